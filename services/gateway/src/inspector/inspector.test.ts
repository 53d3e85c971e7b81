import type { Client } from '@heddle/client/interface'
import type { Access } from '@heddle/contracts'
import { createLogger } from '@heddle/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../gateway.js'

const KEY = 'hdl_of-a-reader'

/** A gateway whose project has one key, which `keys` may revoke. */
async function serveWithKey(keys = new Map<string, Access>([[KEY, { project: 'tests', role: 'read' }]])) {
  const gateway = await startGateway({
    port: 0,
    project: 'tests',
    identity: {},
    log: createLogger({ level: 'silent', name: 'test' }),
    backend: () => ({
      clientOf: () => ({ agents: { list: async () => ({ items: [], nextCursor: null }) } }) as unknown as Client,
      keys: { read: async (key) => keys.get(key) ?? null, hasAny: async () => true },
      checkShare: () => {},
      readStageStats: async () => [],
      examine: async () => [],
      readModelCalls: () => new Map(),
      checkReady: async () => undefined,
    }),
  })
  onTestFinished(() => gateway.close())
  return gateway.url
}

const login = (url: string, key: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ key }),
  })

test('a login sets a cookie that scripts cannot read, and a page uses it', async () => {
  const url = await serveWithKey()
  expect((await fetch(`${url}/v1/session`)).status).toBe(401)
  const answer = await login(url, KEY, { origin: url })
  expect(await answer.json()).toEqual({ project: 'tests', role: 'read', permissions: ['read'], isLoggedIn: true })
  expect(answer.headers.get('set-cookie')).toBe(`heddle-key=${KEY}; HttpOnly; SameSite=Strict`)
  const headers = { cookie: `other=1; heddle-key=${KEY}`, 'x-heddle-page': 'inspector' }
  expect((await fetch(`${url}/v1/agents`, { headers })).status).toBe(200)
  expect(await (await fetch(`${url}/v1/session`, { headers })).json()).toMatchObject({ isLoggedIn: true })
  // The role is that of the key.
  const refused = await fetch(`${url}/v1/agents/coder`, { method: 'DELETE', headers })
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, 'FORBIDDEN'])
})

test('a cookie without the header of the page counts as none, since a foreign page could send it', async () => {
  const url = await serveWithKey()
  expect((await fetch(`${url}/v1/agents`, { headers: { cookie: `heddle-key=${KEY}` } })).status).toBe(401)
  const foreign = { cookie: `heddle-key=${KEY}`, 'x-heddle-page': 'inspector', origin: 'http://127.0.0.1:1' }
  expect((await fetch(`${url}/v1/agents`, { headers: foreign })).status).toBe(403)
  expect((await login(url, KEY, { origin: 'http://evil.example' })).status).toBe(403)
})

test('an unknown key sets no cookie, and one that is no key is refused by its form', async () => {
  const url = await serveWithKey()
  const unknown = await login(url, 'hdl_unknown')
  expect([unknown.status, unknown.headers.get('set-cookie')]).toEqual([401, null])
  const odd = await login(url, 'a; Path=/')
  expect([odd.status, odd.headers.get('set-cookie')]).toEqual([400, null])
})

test('logging out removes the cookie', async () => {
  const url = await serveWithKey()
  const answer = await fetch(`${url}/v1/session`, { method: 'DELETE' })
  expect(answer.headers.get('set-cookie')).toBe('heddle-key=; HttpOnly; SameSite=Strict; Max-Age=0')
})

test('the address without a slash leads to the page, below any prefix of a proxy', async () => {
  const url = await serveWithKey()
  const answer = await fetch(`${url}/ui`, { redirect: 'manual' })
  expect([answer.status, answer.headers.get('location')]).toEqual([302, 'ui/'])
})
