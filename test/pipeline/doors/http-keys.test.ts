import { type AccessRole, type Permission, permissionsFor } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import type { Pipeline } from '../support.js'
import { type OpenApi, openEvents, type Served, serve, servePipeline } from './http-support.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

async function keyOf(project: string, role: AccessRole): Promise<{ id: string; headers: Record<string, string> }> {
  const { id, key } = await pipeline.clientOf(project).keys.create({ name: `${role} of ${project}`, role })
  return { id, headers: { authorization: `Bearer ${key}` } }
}

/** Every operation of the document, with values for the parameters of its path. */
function operationsOf(document: OpenApi) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, 'no-such-thing'),
      needs: (operation as { 'x-permission'?: Permission })['x-permission'],
    })),
  )
}

test('a key belongs to one project: its messages are visible to that project and to no other', async () => {
  const [acme, globex] = await Promise.all([keyOf('acme', 'admin'), keyOf('globex', 'admin')])
  const messages = [{ role: 'user', content: 'the launch code is swordfish' }]
  const path = '/v1/threads/run/messages'
  const sent = await http.ask('POST', path, { body: { agent: 'coder', messages }, headers: acme.headers })
  expect(sent).toMatchObject({ status: 200, body: { stored: 1 } })
  expect((await http.ask('GET', path, acme)).body.items).toMatchObject([{ content: messages[0]?.content }])
  expect((await http.ask('GET', path, globex)).status).toBe(404)
  expect((await http.ask('GET', '/v1/agents', globex)).body.items).toEqual([])
  // A caller without a key belongs to the gateway's own project, which has no keys.
  expect((await http.ask('GET', path)).status).toBe(404)
})

test('every route requires the permission that its contract names, and names it to a key without it', async () => {
  const operations = operationsOf(http.document)
  expect(operations.length).toBeGreaterThan(20)
  for (const role of ['produce', 'read', 'agent', 'admin'] as const) {
    const { headers } = await keyOf('initech', role)
    for (const { method, path, needs } of operations) {
      if (needs === undefined) throw new Error(`${method} ${path} names no permission`)
      if (path === '/v1/events' && permissionsFor({ role }).includes(needs)) continue
      const response = await fetch(`${http.url}${path}`, { method, headers })
      const { code } = (await response.json()) as { code?: string }
      const isRefused = response.status === 403 && code === 'FORBIDDEN'
      expect([role, method, path, isRefused]).toEqual([role, method, path, !permissionsFor({ role }).includes(needs)])
    }
  }
})

describe('an agent with its own window can be created by a key', () => {
  const put = async (headers: Record<string, string>, agent: string, body: object) =>
    await http.ask('PUT', `/v1/agents/${agent}`, { headers, body })
  const settingsOf = async (agent: string) => (await pipeline.clientOf('tyrell').agents.get(agent)).settings
  const messages = [{ role: 'user', content: 'said long ago', sentAt: '2025-02-12T14:30:00Z' }]

  test.each(['produce', 'agent'] as const)('of the role %s, and changed only by an admin', async (role) => {
    const { headers } = await keyOf('tyrell', role)
    const path = `/v1/threads/run-${role}/messages`
    const append = async (body: object) =>
      await http.ask('POST', path, { headers, body: { agent: role, messages, ...body } })
    const first = await append({ newAgentRollingWindow: null })
    expect(first).toMatchObject({ status: 200, body: { stored: 1 } })
    expect(first.body).not.toHaveProperty('warnings')
    expect(await settingsOf(role)).toEqual({ rollingWindow: null })
    expect((await append({ newAgentRollingWindow: 60 })).status).toBe(200)
    expect(await settingsOf(role)).toEqual({ rollingWindow: null })
    const change = await put(headers, role, { settings: { rollingWindow: 60 } })
    expect(change).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', field: 'agent', received: role } })

    const made = `made-${role}`
    const creation = { settings: { rollingWindow: 3_600 } }
    expect(await put(headers, made, creation)).toMatchObject({ status: 200, body: { name: made, version: 1 } })
    // The same request again, as after an answer that was lost.
    expect(await put(headers, made, creation)).toMatchObject({ status: 200, body: { version: 1 } })
    for (const [field, body] of [
      ['agent', { settings: { rollingWindow: null } }],
      ['agent', {}],
      ['systemPrompt', { ...creation, systemPrompt: 'Obey.' }],
      ['settings.model', { settings: { rollingWindow: 3_600, model: 'gpt-4o' } }],
    ] as const)
      expect(await put(headers, made, body)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', field } })
    expect(await put(headers, `${made}-2`, { docs: [] })).toMatchObject({ status: 403, body: { field: 'docs' } })
    expect(await settingsOf(made)).toEqual({ rollingWindow: 3_600 })
  })

  test('of the role produce, which gets no data of an agent that an admin has set up', async () => {
    const { headers } = await keyOf('tyrell', 'produce')
    const settings = { rollingWindow: null }
    await pipeline.clientOf('tyrell').agents.put('secretive', { systemPrompt: 'the secret prompt', settings })
    const refused = await put(headers, 'secretive', { settings })
    expect(refused.status).toBe(403)
    expect(JSON.stringify(refused.body)).not.toContain('the secret prompt')
  })

  test('but not of the role read', async () => {
    const { headers } = await keyOf('tyrell', 'read')
    expect(await put(headers, 'reader', { settings: { rollingWindow: null } })).toMatchObject({ status: 403 })
    await expect(settingsOf('reader')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

test('once the local project has a key, requests without one get only the health checks', async () => {
  const guarded = await serve(pipeline)
  const opened = await openEvents(`${guarded.url}/v1/events`)
  const { headers, id } = await keyOf('tests', 'read')
  try {
    expect(await opened.next()).toBeNull()
    for (const { method, path } of [...operationsOf(http.document), { method: 'GET', path: '/metrics' }]) {
      const response = await fetch(`${guarded.url}${path}`, { method })
      expect([method, path, response.status]).toEqual([method, path, 401])
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="heddle"')
      expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED', field: 'authorization' })
    }
    expect((await fetch(`${guarded.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${guarded.url}/readyz`)).status).toBe(200)
    expect((await fetch(`${guarded.url}/metrics`, { headers })).status).toBe(200)
    const events = await openEvents(`${guarded.url}/v1/events`, headers)
    events.close()
  } finally {
    await guarded.gateway.close()
  }
  await pipeline.client.keys.revoke(id)
  const later = await serve(pipeline)
  expect((await fetch(`${later.url}/v1/agents`, { headers })).status).toBe(401)
  expect((await fetch(`${later.url}/v1/agents`)).status).toBe(401)
  await later.gateway.close()
})

test('a stream of events ends soon after its key was revoked, while one with another key continues', async () => {
  const [taken, kept] = await Promise.all([keyOf('hooli', 'read'), keyOf('hooli', 'agent')])
  const [ending, lasting] = await Promise.all(
    [taken, kept].map(({ headers }) => openEvents(`${http.url}/v1/events`, headers)),
  )
  const { messages, keys } = pipeline.clientOf('hooli')
  const append = () => messages.append({ agent: 'a', thread: 'run', messages: [{ role: 'user', content: 'hello' }] })
  await append()
  expect([await ending?.next(), await lasting?.next()]).toMatchObject(Array(2).fill({ event: 'message.stored' }))
  await keys.revoke(taken.id)
  expect(await ending?.next()).toBeNull()
  await append()
  expect(await lasting?.next()).toMatchObject({ event: 'message.stored' })
  lasting?.close()
})

test('a key with the project of another key or with another secret is refused', async () => {
  const { headers } = await keyOf('acme', 'admin')
  const key = headers['authorization']?.replace('Bearer hdl_', '') ?? ''
  const other = await keyOf('globex', 'admin')
  const otherKey = other.headers['authorization']?.replace('Bearer hdl_', '') ?? ''
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  const crossed = Buffer.concat([bytes(otherKey).subarray(0, 16), bytes(key).subarray(16)]).toString('base64url')
  for (const forged of [
    crossed,
    `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
    key.slice(0, 22).padEnd(64, 'A'),
  ]) {
    const response = await fetch(`${http.url}/v1/agents`, { headers: { authorization: `Bearer hdl_${forged}` } })
    expect(response.status).toBe(401)
  }
})

test('keys are stored as hashes, and listed with their last use', async () => {
  const { id, headers } = await keyOf('umbrella', 'read')
  const key = headers['authorization']?.replace('Bearer ', '') ?? ''
  await http.ask('GET', '/v1/agents', { headers })
  const client = pipeline.clientOf('umbrella')
  await expect.poll(async () => (await client.keys.list()).items[0]?.lastUsedAt).toEqual(expect.any(String))
  expect((await client.keys.list()).items).toMatchObject([{ id, role: 'read', revokedAt: null }])
  expect(JSON.stringify(await client.keys.list())).not.toContain(key.slice(30))
  await expect(pipeline.clientOf('acme').keys.revoke(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('a project beyond its limit of open requests is refused at once, while another one is answered', async () => {
  const narrow = await serve(pipeline, { projectLimits: { requestsMax: 3, bytesMax: 1_000_000 } })
  const [noisy, quiet] = await Promise.all([keyOf('noisy', 'admin'), keyOf('quiet', 'admin')])
  const append = ({ headers }: typeof noisy, index: number) =>
    fetch(`${narrow.url}/v1/threads/run/messages`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'coder', messages: [{ role: 'user', content: `message ${index}` }] }),
    })
  const sent = Array.from({ length: 30 }, (_, index) => append(noisy, index))
  const other = append(quiet, 0)
  const answers = await Promise.all(sent)
  expect((await other).status).toBe(200)
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  for (const answer of refused) {
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.json()).toMatchObject({ code: 'RATE_LIMITED' })
  }
  // No accepted message is lost, and no refused message is stored.
  const stored = (await pipeline.clientOf('noisy').messages.list({ thread: 'run', limit: 100 })).items.length
  expect(stored).toBe(answers.filter(({ status }) => status === 200).length)
  await narrow.gateway.close()
})
