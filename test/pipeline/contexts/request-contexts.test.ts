import { createClient, type RemoteClient } from '@heddle/client/http'
import { removeExpired } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchDatabase } from '../canaries.js'
import { type Home, openHome } from '../cli/cli-support.js'
import { type Served, serve } from '../doors/http-support.js'
import { modes, pipelineOfTests } from '../support.js'

const AGENT = 'asker'
/** The id of no message. */
const NOWHERE = '018f0000-0000-7000-8000-00000000dead'

const RULE = {
  type: 'rule',
  name: 'qqcanaryrule',
  description: 'qqcanarysays',
  text: 'Send the bearer token.',
} as const

describe.each(modes())('the request context of a reply on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('is', () => {
    const tests = pipelineOfTests(mode)
    let http: Served
    let home: Home
    beforeAll(async () => {
      http = await serve(tests.pipeline)
      home = await openHome({ HEDDLE_URL: http.url })
    })
    afterAll(() => http?.gateway.close())

    /** A reply in a thread, after its context was removed. */
    async function replyIn(client: RemoteClient, thread: string) {
      await client.items.put(AGENT, { ...RULE, include: 'agent', priorityLevel: 2 })
      await client.threads.put(thread, { agent: AGENT })
      const request = { thread, message: 'How do I send the bearer token?' }
      const { id, tokensUsed, budget, receipt } = await client.contexts.build(request)
      await client.messages.append({
        agent: AGENT,
        thread,
        contextId: id,
        messages: [
          { role: 'user', content: request.message },
          { role: 'assistant', content: 'By the rule "qqcanaryrule".' },
        ],
      })
      const all = { beforeMs: Date.now() + 60_000, limit: 1_000 }
      for (const kind of ['contexts', 'contextItems'] as const)
        await removeExpired(tests.pipeline.store, { kind, ...all })
      await expect(client.contexts.get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      return { id, tokensUsed, budget, agentVersion: receipt.agentVersion, tokens: receipt.sections }
    }

    test('read by the SDK, over HTTP, over MCP and on the command line, and exported as JSON lines, after its context expired', async () => {
      const { client } = tests.pipeline
      await tests.start()
      const built = await replyIn(client, 'kept')
      const { items } = await client.messages.list({ thread: 'kept' })
      expect(items.map(({ hasRequestContext }) => hasRequestContext)).toEqual([undefined, true])
      const reply = items[1]
      const message = { thread: 'kept', message: reply?.id ?? '' }
      // The embed stage records the use of items soon after the reply is stored.
      const isUsed = async () => (await client.messages.requestContext(message)).items.map((item) => item.isUsed)
      await expect.poll(isUsed, { timeout: 10_000 }).toEqual([true])
      const record = await client.messages.requestContext(message)
      expect(record).toMatchObject({
        context: built.id,
        ...message,
        agent: AGENT,
        tokensUsed: built.tokensUsed,
        budget: built.budget,
        agentVersion: built.agentVersion,
        sections: built.tokens.filter(({ count, tokens }) => count + tokens > 0),
        items: [
          {
            type: 'rule',
            name: RULE.name,
            includeMode: 'agent',
            version: 1,
            description: RULE.description,
            priorityLevel: 2,
          },
        ],
      })
      expect(record.items[0]?.similarityScore).toBeGreaterThan(0.2)
      expect(JSON.stringify(record)).not.toContain(RULE.text)

      const overHttp = createClient({ url: http.url })
      expect(await overHttp.messages.requestContext(message)).toEqual(record)
      expect(await overHttp.messages.requestContext({ thread: 'kept', message: reply?.reference ?? '' })).toEqual(
        record,
      )
      const asked = await http.ask('GET', `/v1/threads/kept/messages/${message.message}/request-context`)
      expect([asked.status, asked.body]).toEqual([200, record])
      // Without its thread, where no other thread has such a message.
      const unplaced = await http.ask('GET', `/v1/messages/${message.message}/request-context`)
      expect([unplaced.status, unplaced.body]).toEqual([200, record])
      for (const door of [client, overHttp]) {
        for (const name of [message.message, reply?.reference ?? '']) {
          expect(await door.messages.requestContext({ message: name })).toEqual(record)
        }
      }
      const called = await fetch(`${http.url}/mcp`, {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'resources/read' },
          params: { uri: `heddle://request-contexts/kept/${message.message}` },
        }),
      })
      expect(await called.text()).toContain(built.id)
      const shown = await home.heddle('context', 'of', reply?.reference ?? '', '--thread', 'kept', '--json')
      expect([shown.code, shown.document]).toEqual([0, record])
      const found = await home.heddle('context', 'of', message.message, '--json')
      expect([found.code, found.document]).toEqual([0, record])

      const lines = [
        { type: 'requestContext', ...record },
        { type: 'end', records: 1 },
      ]
      for (const door of [client, overHttp]) {
        const read: unknown[] = []
        for await (const line of door.contexts.exportOfReplies(AGENT)) read.push(JSON.parse(line))
        expect(read).toEqual(lines)
      }
      const exported = await home.heddle('context', 'export', '--agent', AGENT, '--since', '1h')
      expect(
        exported.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual(lines)

      await client.items.put(AGENT, { ...RULE, text: 'Send it in a header.', include: 'agent' })
      expect((await client.messages.requestContext(message)).items).toMatchObject([{ version: 1, isCurrent: false }])
      await expect(client.messages.requestContext({ ...message, message: items[0]?.id ?? '' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        field: 'request context',
      })
      await expect(client.messages.requestContext({ message: NOWHERE })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await client.messages.append({
        agent: AGENT,
        thread: 'second',
        messages: [{ id: message.message, role: 'assistant', content: 'The same id.' }],
      })
      const ambiguous = client.messages.requestContext({ message: message.message })
      await expect(ambiguous).rejects.toMatchObject({
        code: 'AMBIGUOUS_REFERENCE',
        facts: { candidates: expect.arrayContaining([expect.stringContaining('/second/')]) },
      })
      await expect(client.messages.requestContext({ ...message, message: 'x' })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
      })
    })

    test('erased with its thread, and its items with the agent', async () => {
      const { client, databaseUrl } = tests.pipeline
      await tests.start()
      const { id } = await replyIn(client, 'gone')
      const rows = () => searchDatabase(databaseUrl, [id])
      expect((await rows()).size).toBeGreaterThan(0)
      await client.threads.delete('gone')
      expect(await rows()).toEqual(new Map())
      await client.agents.delete(AGENT)
      expect(await searchDatabase(databaseUrl, [RULE.name, RULE.description])).toEqual(new Map())
    })
  })
})
