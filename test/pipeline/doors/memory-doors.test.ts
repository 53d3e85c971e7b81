import type { ContextResult } from '@heddle/contracts'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Home, openHome } from '../cli/cli-support.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'
import { type Served, serve } from './http-support.js'

const PORTS = ['The pelican service listens on port 4711.', 'The port of the pelican is behind the proxy.']
const ASKED = 'Which port does the pelican listen on?'

describe.each(queueBackends())('the doors on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('with a gateway', () => {
    let pipeline: Pipeline
    let http: Served
    let home: Home

    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start()
      http = await serve(pipeline)
      home = await openHome({ HEDDLE_URL: http.url })
      const { client } = pipeline
      const say = (thread: string, contents: readonly string[]) =>
        client.messages.append({
          agent: 'coder',
          thread,
          messages: contents.map((content) => ({ role: 'user' as const, content })),
        })
      await say('before', PORTS)
      await say('beside', ['Lunch is at noon.', 'The garden needs rain.'])
      await say('now', ['Good morning.'])
      await waitFor(async () => (await client.search({ query: 'pelican', agent: 'coder' })).items.length > 0)
    })
    afterAll(async () => {
      await http?.gateway.close()
      await pipeline?.close()
    })

    /** The memories of a context, by its receipt. */
    function recalled({ receipt }: Pick<ContextResult, 'receipt'>): string[] {
      const shown = receipt.entries.filter(({ section, mode }) => section === 'memories' && mode !== 'left-out')
      return shown.map(({ memory }) => `${memory?.thread} ${memory?.score}`)
    }

    const overHttp = async (memories: unknown, message = ASKED): Promise<ContextResult> => {
      const asked = await http.ask('POST', '/v1/threads/now/contexts', { body: { message, memories } })
      expect(asked.status).toBe(200)
      return asked.body
    }
    const overCommandLine = async (...argv: string[]): Promise<ContextResult> => {
      const ran = await home.heddle('context', 'build', '--thread', 'now', '--message', ASKED, ...argv, '--json')
      expect([ran.code, ran.stderr]).toEqual([0, ''])
      // The output names the context; its receipt is requested like any other.
      return ran.document
    }

    describe('facts and the ledger', () => {
      const sections = ({ receipt }: Pick<ContextResult, 'receipt'>) =>
        receipt.sections.flatMap(({ name }) => (/^(?:facts|fact-changes|ledger)$/.test(name) ? [name] : []))
      const NO_LEDGER = 'the thread has no ledger before its first compaction'
      const build = async (body: Record<string, unknown>): Promise<ContextResult> =>
        (await http.ask('POST', '/v1/threads/now/contexts', { body: { message: ASKED, ...body } })).body

      test('are requested over HTTP, on the command line and by a setting', async () => {
        const fact = { subject: 'port of the pelican', predicate: 'is', object: '4711' }
        const id = '018f2f3e-0000-7000-8000-00000000f0f0'
        await http.ask('PUT', `/v1/agents/coder/facts/${id}`, { body: fact })
        expect(sections(await build({ facts: true }))).toEqual(['fact-changes'])
        expect(sections(await build({ facts: { limit: 1, tokensMax: 1 } }))).toEqual(['facts'])
        expect((await build({ ledger: true })).receipt.notes).toContain(NO_LEDGER)
        expect(sections(await overCommandLine('--facts'))).toEqual(['fact-changes'])
        expect((await overCommandLine('--ledger', '200')).receipt.notes).toContain(NO_LEDGER)
        expect(sections(await overCommandLine())).toEqual([])
        const settings = { sections: { facts: { enabled: true } } }
        await http.ask('PUT', '/v1/agents/coder', { body: { settings } })
        expect(sections(await build({}))).toEqual(['fact-changes'])
        expect(sections(await overCommandLine('--no-facts'))).toEqual([])
        await http.ask('PUT', '/v1/agents/coder', { body: { settings: {} } })
        const refused = await http.ask('POST', '/v1/threads/now/contexts', { body: { facts: { limit: 0 } } })
        expect([refused.status, refused.body]).toMatchObject([400, { code: 'VALIDATION_ERROR' }])
      })
    })

    describe('memories', () => {
      test('are added by a field of a request over HTTP, within the limits that it sets', async () => {
        const all = await overHttp(true)
        expect(recalled(all)).toHaveLength(2)
        expect(JSON.stringify(all.messages)).toContain(PORTS[0])
        expect(all.receipt.memories).toMatchObject({ skipped: null, degraded: null })
        expect(recalled(await overHttp({ limit: 1 }))).toHaveLength(1)
        expect(recalled(await overHttp({ tokensMax: 1 }))).toEqual([])
        expect(recalled(await overHttp({ minScore: 0.9 }))).toHaveLength(1)
        const { receipt } = await overHttp(false)
        expect([recalled({ receipt }), receipt.memories]).toEqual([[], undefined])
        const refused = await http.ask('POST', '/v1/threads/now/contexts', { body: { memories: { limit: 0 } } })
        expect([refused.status, refused.body]).toMatchObject([400, { code: 'VALIDATION_ERROR' }])
      })

      test('are added by --memories on the command line', async () => {
        expect(recalled(await overCommandLine('--memories'))).toHaveLength(2)
        expect(recalled(await overCommandLine('--memories', '1'))).toEqual([])
        expect(recalled(await overCommandLine())).toEqual([])
        const refused = await home.heddle('context', 'build', '--thread', 'now', '--memories', 'many', '--json')
        expect([refused.code, refused.error]).toMatchObject([2, { field: 'memories' }])
      })

      test('are added by a setting of the agent, unless the request says otherwise', async () => {
        const settings = { search: { memories: { enabled: true, limit: 1 } } }
        await http.ask('PUT', '/v1/agents/coder', { body: { settings } })
        expect(recalled(await overHttp(undefined))).toHaveLength(1)
        expect(recalled(await overCommandLine())).toHaveLength(1)
        expect(recalled(await overHttp(false))).toEqual([])
        expect(recalled(await overCommandLine('--no-memories'))).toEqual([])
        expect(recalled(await overHttp({ limit: 2 }))).toHaveLength(2)
        await http.ask('PUT', '/v1/agents/coder', { body: { settings: {} } })
      })

      test('are about the request: unused budget is not filled with others', async () => {
        const other = 'Who painted the violet ceiling of the port?'
        const { receipt } = await overHttp(true, other)
        expect(recalled({ receipt })).toEqual([])
        const reasons = receipt.entries.filter(({ section }) => section === 'memories').map(({ reason }) => reason)
        expect(reasons.length).toBeGreaterThan(0)
        expect(new Set(reasons)).toEqual(new Set(['unrelated to the request: its score is below 0.25']))
        expect(recalled(await overHttp({ minScore: 0 }, other)).length).toBeGreaterThan(0)
      })
    })
  })
})
