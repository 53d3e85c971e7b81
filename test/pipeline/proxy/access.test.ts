import { expect, test } from 'vitest'
import { backendWith, callRaw, withProxy } from './proxy-support.js'

const NEVER = new Promise<never>(() => undefined)

test('an upstream that cannot be reached is reported in the form of its provider', async () => {
  const upstreamUrl = 'http://127.0.0.1:1'
  await withProxy(
    async ({ anthropicUrl, openAiUrl }) => {
      const ofAnthropic = await callRaw(`${anthropicUrl}/v1/messages`, { body: '{}' })
      expect(ofAnthropic.status).toBe(502)
      expect(JSON.parse(ofAnthropic.body.toString())).toEqual({
        type: 'error',
        error: { type: 'api_error', message: 'Heddle could not reach the upstream "anthropic" (ECONNREFUSED).' },
      })
      const ofOpenAi = await callRaw(`${openAiUrl}/chat/completions`, { body: '{}' })
      expect(ofOpenAi.status).toBe(502)
      expect(JSON.parse(ofOpenAi.body.toString())).toMatchObject({
        error: { type: 'server_error', param: null, code: 'upstream_unreachable' },
      })
    },
    { upstreamUrl },
  )
})

test('only configured upstreams are reached, and only below their address', async () => {
  await withProxy(async ({ gateway, upstream }) => {
    expect((await callRaw(`${gateway.url}/other/v1/messages`, { body: '{}' })).status).toBe(404)
    for (const path of ['/openai/v1/../admin', '/openai/%2e%2e/admin', '/openai/v1/..%2Fadmin', '/openai/v1/%2E./x']) {
      // A URL would be resolved before it is sent.
      const answer = await callRaw(gateway.url, { path, body: '{}' })
      expect([path, answer.status]).toEqual([path, 400])
    }
    expect((await callRaw(gateway.url, { path: 'http://example.com/anthropic/v1/messages' })).status).toBe(404)
    expect(upstream.requests).toHaveLength(0)
  })
})

test('pages of other servers and foreign names are refused, as at the gateway', async () => {
  await withProxy(async ({ anthropicUrl, upstream }) => {
    const foreign = await callRaw(`${anthropicUrl}/v1/messages`, { headers: ['Origin', 'https://example.com'] })
    expect([foreign.status, JSON.parse(foreign.body.toString()).error.type]).toEqual([403, 'permission_error'])
    expect((await callRaw(`${anthropicUrl}/v1/messages`, { host: 'example.com' })).status).toBe(403)
    expect(upstream.requests).toHaveLength(0)
  })
})

test('where keys exist, callers need one of Heddle beside the one of their provider', async () => {
  const keys = {
    read: async (key: string) =>
      ({
        'heddle-agent': { project: 'p', role: 'agent' as const },
        'heddle-reader': { project: 'p', role: 'read' as const },
      })[key] ?? null,
    hasAny: async () => true,
  }
  await withProxy(
    async ({ openAiUrl, upstream }) => {
      const call = (key: string | null) =>
        callRaw(`${openAiUrl}/chat/completions`, {
          headers: ['Authorization', 'Bearer sk-provider', ...(key === null ? [] : ['X-Heddle-Key', key])],
          body: '{}',
        })
      const without = await call(null)
      expect([without.status, JSON.parse(without.body.toString()).error.code]).toEqual([401, 'refused'])
      expect((await call('heddle-unknown')).status).toBe(401)
      expect((await call('heddle-reader')).status).toBe(403)
      expect(upstream.requests).toHaveLength(0)
      expect((await call('heddle-agent')).status).toBe(200)
      expect(upstream.requests[0]?.rawHeaders).toContain('Bearer sk-provider')
      expect(upstream.requests[0]?.rawHeaders.join()).not.toContain('heddle-agent')
    },
    { gateway: { backend: backendWith(keys) } },
  )
})

test('a store that fails or hangs delays a caller on this machine by no more than the limit', async () => {
  const failing = { read: () => Promise.reject(new Error('away')), hasAny: () => Promise.reject(new Error('away')) }
  const hanging = { read: () => NEVER, hasAny: () => NEVER }
  for (const keys of [failing, hanging]) {
    await withProxy(
      async ({ openAiUrl, upstream }) => {
        const startedMs = performance.now()
        for (const headers of [[], ['x-heddle-key', 'heddle-unknown']]) {
          expect((await callRaw(`${openAiUrl}/chat/completions`, { headers, body: '{}' })).status).toBe(200)
        }
        // The second one does not wait at all.
        expect(performance.now() - startedMs).toBeLessThan(1_000)
        expect(upstream.requests).toHaveLength(2)
      },
      { gateway: { backend: backendWith(keys) }, proxy: { lateMs: 50 } },
    )
  }
})

test('a gateway that is still starting relays', async () => {
  await withProxy(
    async ({ anthropicUrl }) => {
      expect((await callRaw(`${anthropicUrl}/v1/messages`, { body: '{}' })).status).toBe(200)
    },
    { gateway: { backend: () => null } },
  )
})

test('other machines need a key that is known, even while the store is away', async () => {
  const state = { isAway: false }
  const keys = {
    async read(key: string) {
      if (state.isAway) throw new Error('away')
      return key === 'heddle-known' ? { project: 'p', role: 'agent' as const } : null
    },
    hasAny: async () => true,
  }
  await withProxy(
    async ({ openAiUrl }) => {
      const call = (key: string) =>
        callRaw(`${openAiUrl}/models`, { method: 'GET', headers: ['x-heddle-key', key] }).then(({ status }) => status)
      expect(await call('heddle-known')).toBe(200)
      state.isAway = true
      expect(await call('heddle-unknown')).toBe(503)
      expect(await call('heddle-known')).toBe(200)
    },
    { gateway: { backend: backendWith(keys), hosts: ['heddle.example'] } },
  )
})

test('metrics count replies by status without anything that a caller chose', async () => {
  await withProxy(async ({ gateway, anthropicUrl }) => {
    await callRaw(`${anthropicUrl}/v1/messages?canary=1`, { headers: ['x-api-key', 'canary'], body: '{"a":"canary"}' })
    const text = (await callRaw(`${gateway.url}/metrics`, { method: 'GET' })).body.toString()
    expect(text).toContain('heddle_proxy_requests_total{upstream="anthropic",protocol="anthropic",status="200"} 1')
    expect(text).toContain('heddle_queues_readable')
    expect(text).not.toContain('canary')
  })
})
