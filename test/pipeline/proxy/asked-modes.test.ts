import type { ProxyOptions } from '@heddle/proxy'
import { waitFor } from '@heddle/test-support'
import { ManualClock } from '@heddle/test-support/manual-clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'
import { callRaw, storingIn } from './proxy-support.js'
import { type ThroughGateway, throughGateway } from './through-gateway.js'

let pipeline: Pipeline

beforeAll(async () => {
  // One server of queues: modes are read from the store.
  pipeline = await openPipeline('postgres')
  await pipeline.start(['ingest'])
})
afterAll(() => pipeline?.close())

interface Asked {
  readonly agent?: string
  readonly thread?: string
  readonly key?: string
  readonly mode?: string
}

interface Door extends ThroughGateway {
  /** Sends a request of a new conversation, and returns the mode in the header of its reply. */
  ask(asked?: Asked): Promise<string>
}

async function inProject(
  project: string,
  work: (door: Door) => Promise<void>,
  options: Partial<ProxyOptions> = {},
): Promise<void> {
  let asked = 0
  await throughGateway(
    pipeline,
    project,
    (through) =>
      work({
        ...through,
        async ask({ agent, thread, key, mode } = {}) {
          const named = {
            'x-heddle-agent': agent,
            'x-heddle-thread': thread,
            'x-heddle-key': key,
            'x-heddle-mode': mode,
          }
          const given = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
          const messages = [{ role: 'user', content: `Question ${asked++}` }]
          const { headers } = await callRaw(`${through.http.url}/anthropic/v1/messages`, {
            headers: ['content-type', 'application/json', ...given],
            body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages }),
          })
          return String(headers['x-heddle-mode'])
        },
      }),
    options,
  )
}

test('the mode of a request is that of its header, else of its key, else of its agent, else of the configuration', async () => {
  await inProject('asked-modes', async ({ client, heddle, ask }) => {
    const set = await heddle('settings', 'set', 'proxyMode', 'stub', '--agent', 'coder')
    expect([set.code, set.stderr]).toEqual([0, ''])
    const { document: key } = await heddle(
      ...['keys', 'create', '--name', 'nightly', '--role', 'agent', '--proxy-mode', 'compact', '--json'],
    )
    expect(key).toMatchObject({ proxyMode: 'compact' })
    expect(await ask()).toBe('observe')
    expect(await ask({ agent: 'coder' })).toBe('stub')
    expect(await ask({ agent: 'coder', key: key.key })).toBe('compact')
    expect(await ask({ agent: 'coder', key: key.key, mode: 'observe' })).toBe('observe')
    // An unknown mode is ignored.
    expect(await ask({ agent: 'coder', mode: 'everything' })).toBe('stub')
    const shown = await waitFor(async () => {
      const { items } = await client.proxy.requests()
      return items.length < 5 ? null : items.map(({ mode, modeSource }) => `${mode} by ${modeSource}`).sort()
    })
    expect(shown).toEqual([
      'compact by key',
      'observe by configuration',
      'observe by header',
      'stub by agent',
      'stub by agent',
    ])
    // The list is in the order of storing, which two quick requests may change.
    const line = (await client.proxy.requests()).items.find(({ modeSource }) => modeSource === 'agent')
    expect((await heddle('proxy', 'show', line?.id ?? '')).stdout).toContain('mode stub by agent')
  })
})

test('requests that name no agent get the mode of the agent "proxy", and the settings say who set it', async () => {
  await inProject('asked-default', async ({ http, ask }) => {
    const put = (proxyMode: unknown) => http.ask('PUT', '/v1/agents/proxy', { body: { settings: { proxyMode } } })
    expect((await put('stub')).status).toBe(200)
    expect(await ask()).toBe('stub')
    const { body } = await http.ask('GET', '/v1/agents/proxy/settings')
    expect(body.items).toContainEqual({ name: 'proxyMode', value: 'stub', from: 'agent', default: null })
    expect(await put('everything')).toMatchObject({ status: 400, body: { field: 'settings.proxyMode' } })
  })
})

test('the mode of a named thread goes before that of its agent, and behind that of a key', async () => {
  await inProject('asked-threads', async ({ client, heddle, ask }) => {
    await client.agents.put('coder', { settings: { proxyMode: 'stub' } })
    await client.threads.put('pages', { agent: 'coder', settings: { proxyMode: 'compact' } })
    await client.threads.put('plain', { agent: 'coder' })
    const { key } = await client.keys.create({ name: 'nightly', role: 'agent', proxyMode: 'observe' })
    expect(await ask({ agent: 'coder', thread: 'pages' })).toBe('compact')
    expect(await ask({ agent: 'coder', thread: 'plain' })).toBe('stub')
    expect(await ask({ agent: 'coder', thread: 'new' })).toBe('stub')
    expect(await ask({ agent: 'coder', thread: 'pages', key })).toBe('observe')
    const isStored = async () => {
      const { items } = await client.proxy.requests({ thread: 'pages' })
      return items.find(({ mode }) => mode === 'compact')
    }
    const { id } = await waitFor(isStored)
    expect((await heddle('proxy', 'show', id)).stdout).toContain('mode compact by thread')
  })
})

test('a change of an agent holds for requests from five seconds later at most', async () => {
  const clock = new ManualClock()
  await inProject(
    'asked-changed',
    async ({ client, ask }) => {
      await client.agents.put('coder', { settings: { proxyMode: 'compact' } })
      expect(await ask({ agent: 'coder' })).toBe('compact')
      await client.agents.put('coder', { settings: {} })
      await clock.advance(5_000)
      expect(await ask({ agent: 'coder' })).toBe('observe')
    },
    { clock },
  )
})

test('a key changes its mode, and loses it, by an admin', async () => {
  await inProject('asked-keys', async ({ http, client, heddle, ask }) => {
    const { id, key } = await client.keys.create({ name: 'nightly', role: 'agent' })
    const change = (proxyMode: unknown, headers = {}) =>
      http.ask('PUT', `/v1/keys/${id}`, { body: { proxyMode }, headers })
    expect(await change('stub')).toMatchObject({ status: 200, body: { id, proxyMode: 'stub', name: 'nightly' } })
    expect(await ask({ key })).toBe('stub')
    expect((await client.keys.update(id, { proxyMode: null })).proxyMode).toBeNull()
    await expect.poll(() => ask({ key })).toBe('observe')
    const changed = await heddle('keys', 'update', id, '--proxy-mode', 'compact')
    expect([changed.code, changed.stdout]).toEqual([0, `key ${id} "nightly" has the proxy mode compact\n`])
    await expect.poll(() => ask({ key })).toBe('compact')
    expect((await heddle('keys', 'list', '--json')).document.items).toMatchObject([{ id, proxyMode: 'compact' }])

    expect((await change('observe', { 'x-heddle-key': key })).status).toBe(403)
    expect(await change('everything')).toMatchObject({ status: 400, body: { field: 'proxyMode' } })
    const wrong = await heddle('keys', 'update', id, '--proxy-mode', 'everything', '--json')
    expect(wrong).toMatchObject({ code: 2, error: { field: 'proxy-mode' } })
    const foreign = await heddle('keys', 'update', id, '--proxy-mode', 'none', '--project', 'other', '--json')
    expect(foreign).toMatchObject({ code: 1, error: { code: 'NOT_FOUND' } })
  })
})

test('a request is sent in the mode of the configuration if the store that knows its agent does not answer', async () => {
  const clock = new ManualClock()
  let isRead = false
  const settingsMode = () => {
    isRead = true
    return new Promise<never>(() => undefined)
  }
  const stored = storingIn(pipeline)()
  const work = async ({ ask }: Door) => {
    const asking = ask({ agent: 'coder' })
    await waitFor(() => isRead)
    await clock.advance(20_000)
    expect(await asking).toBe('observe')
  }
  await inProject('asked-hanging', work, { clock, backend: () => stored && { ...stored, settingsMode } })
})
