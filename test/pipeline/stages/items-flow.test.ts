import type { Client } from '@heddle/client/interface'
import { RetryableError } from '@heddle/contracts'
import { likeQuery } from '@heddle/core'
import { createClient } from '@heddle/engine'
import type { Embedder } from '@heddle/models'
import { describe, expect, test } from 'vitest'
import { pipelineOfTests, queueBackends } from '../support.js'

const AUTHENTICATE = 'How do I authenticate?'
const ERRORS = "What's the error handling?"

/** The similarity of each text to the first query and to the second. */
const meanings: readonly (readonly [part: string, authenticate: number, errors: number])[] = [
  [AUTHENTICATE, 1, 0],
  [ERRORS, 0, 1],
  ['Send the token in a header.', 0.92, 0.05],
  ['Each error has a code.', 0.05, 0.87],
  ['read_file', 0.8, 0],
]

/** An embedder with fixed vectors for a few texts, so that scores are known. */
function knowing(behaviour: (texts: readonly string[]) => Promise<void> = async () => {}, dimensions = 4): Embedder {
  return {
    model: 'knows-a-few-texts',
    dimensions: 4,
    async embed(texts) {
      await behaviour(texts)
      return texts.map((text) => {
        const [, authenticate, errors] = meanings.find(([part]) => likeQuery(text).includes(likeQuery(part))) ?? [
          text,
          0,
          0,
        ]
        const isKnown = authenticate + errors > 0
        const rest = isKnown ? Math.sqrt(1 - authenticate ** 2 - errors ** 2) : 0
        return Float32Array.from([authenticate, errors, rest, isKnown ? 0 : 1]).slice(0, dimensions)
      })
    },
    async close() {},
  }
}

const RULE_A = { type: 'rule', name: 'A', text: 'Be brief.', include: 'always' } as const
const RULE_B = { type: 'rule', name: 'B', text: 'Write tests.', include: 'manual' } as const
const RULE_C = { type: 'rule', name: 'C', text: 'Send the token in a header.', include: 'agent' } as const
const REFERENCE_X = { type: 'reference', name: 'X', text: 'The API has version 2.', include: 'always' } as const
const REFERENCE_Y = { type: 'reference', name: 'Y', text: 'Each error has a code.', include: 'agent' } as const

/** An agent with items of each mode, and a thread to which rule B was added by hand. */
async function openThread(client: Client, agent: string): Promise<string> {
  for (const item of [RULE_C, RULE_B, REFERENCE_Y, RULE_A, REFERENCE_X]) await client.items.put(agent, item)
  const thread = `${agent}-run`
  await client.threads.put(thread, { agent })
  await client.items.addToThread(thread, { type: 'rule', name: 'B' })
  return thread
}

const contents = ({ messages }: { messages: readonly Record<string, unknown>[] }) =>
  messages.map(({ content }) => content)
const held = [
  { type: 'rule', name: 'A', includeMode: 'always' },
  { type: 'reference', name: 'X', includeMode: 'always' },
  { type: 'rule', name: 'B', includeMode: 'manual' },
]
const heldTexts = ['Rule: Be brief.', 'Rule: Write tests.', 'Reference: The API has version 2.']
const near = (score: number) => expect.closeTo(score, 2)

describe.each(queueBackends())('items on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('in a pipeline', () => {
    const { pipeline, start } = (() => {
      const own = pipelineOfTests(mode)
      return { pipeline: () => own.pipeline, start: own.start }
    })()

    describe('items from the agent to the context', () => {
      test('the agent offers items, the thread gets those with the mode always, the user adds one, and each request selects by relevance', async () => {
        const { client } = pipeline()
        await start(['ingest', 'assemble'], { embedder: knowing() })
        const thread = await openThread(client, 'flow')
        const names = (await client.items.listOfThread(thread)).map(({ name, includeMode }) => [name, includeMode])
        expect(names.sort()).toEqual([
          ['A', 'always'],
          ['B', 'manual'],
          ['X', 'always'],
        ])

        const first = await client.contexts.build({ thread, message: AUTHENTICATE })
        expect(first.items).toEqual([
          ...held,
          { type: 'rule', name: 'C', includeMode: 'agent', similarityScore: near(0.92) },
        ])
        expect(contents(first)).toEqual([...heldTexts, 'Rule: Send the token in a header.', AUTHENTICATE])
        expect(first.receipt.selection).toEqual({ model: 'knows-a-few-texts', skipped: null })

        await client.messages.append({
          agent: 'flow',
          thread,
          messages: [
            { role: 'user', content: AUTHENTICATE },
            { role: 'assistant', content: 'With a token.', contextId: first.id },
          ],
        })
        const second = await client.contexts.build({ thread, message: ERRORS })
        expect(second.items).toEqual([
          ...held,
          { type: 'reference', name: 'Y', includeMode: 'agent', similarityScore: near(0.89) },
        ])
        expect(contents(second)).toEqual([
          ...heldTexts,
          AUTHENTICATE,
          'With a token.',
          'Reference: Each error has a code.',
          ERRORS,
        ])
        const about = second.receipt.entries.filter(({ item }) => item !== undefined)
        expect(
          about.map(({ section, mode, item, reason }) => [section, mode, item?.name, item?.version, reason]),
        ).toEqual([
          ['rules', 'raw', 'A', 1, 'came with the thread'],
          ['rules', 'raw', 'B', 1, 'added to the thread by hand'],
          ['references', 'raw', 'X', 1, 'came with the thread'],
          ['selected', 'raw', 'Y', 1, 'selected by meaning'],
          ['selected', 'left-out', 'C', 1, 'not related to the request: its score is below 0.2'],
        ])
        expect(about.slice(0, 4).every(({ tokens }) => tokens > 0)).toBe(true)

        // The reply names the context that it answers, and with it the items of its request.
        const reply = (await client.messages.list({ thread })).items.find(({ role }) => role === 'assistant')
        const rebuilt = await client.contexts.get(reply?.contextId ?? '', { rebuild: true })
        expect(rebuilt.items).toEqual(first.items)
        expect(await client.contexts.get(second.id, { rebuild: true })).toEqual(second)
      })
    })

    describe('a selection that is not possible', () => {
      const failures: readonly (readonly [title: string, embedder: () => Embedder, reason: RegExp])[] = [
        [
          'an embedder that throws',
          () =>
            knowing(async () => {
              throw new RetryableError('SERVICE_UNAVAILABLE', 'the model is away')
            }),
          /SERVICE_UNAVAILABLE: the model is away/,
        ],
        [
          'an embedder that never answers',
          () => knowing(() => new Promise(() => {})),
          /TIMEOUT: .* did not finish within \d+ ms/,
        ],
        ['an embedder whose vectors have other dimensions', () => knowing(undefined, 3), /INTERNAL: .* 3 dimensions/],
      ]
      test.each(failures)(
        'because of %s is left out: the context is built, and its receipt says why',
        async (title, embedder, reason) => {
          const { client } = pipeline()
          await start(['assemble'], { embedder: embedder() })
          const thread = await openThread(client, title)
          const context = await client.contexts.build({ thread, message: AUTHENTICATE }, { deadlineMs: 4_000 })
          expect(context.items).toEqual(held)
          expect(contents(context)).toEqual([...heldTexts, AUTHENTICATE])
          expect(context.receipt.selection).toEqual({ model: null, skipped: expect.stringMatching(reason) })
          expect(context.receipt.notes).toContainEqual(expect.stringMatching(reason))
          const leftOut = context.receipt.entries.filter(({ mode, item }) => mode === 'left-out' && item !== undefined)
          expect(leftOut.map(({ item }) => item?.name)).toEqual(['C', 'Y'])
        },
      )
    })

    test("the topic of a request is its message, else the user's latest message, else the goal of the thread", async () => {
      const { client } = pipeline()
      await start(['ingest', 'assemble'], { embedder: knowing() })
      const thread = await openThread(client, 'about')
      const selected = async (request = {}) => {
        const { items, receipt } = await client.contexts.build({ thread, ...request })
        const names = items.filter(({ includeMode }) => includeMode === 'agent').map(({ name }) => name)
        return receipt.selection?.skipped ?? names
      }
      const say = (role: 'user' | 'assistant', content: string) =>
        client.messages.append({ agent: 'about', thread, messages: [{ role, content }] })
      await say('assistant', AUTHENTICATE)
      expect(await selected()).toMatch('neither the request nor the thread has a text to select by')
      await client.threads.put(thread, { agent: 'about', goal: AUTHENTICATE })
      expect(await selected()).toEqual(['C'])
      await say('user', ERRORS)
      expect(await selected()).toEqual(['Y'])
      expect(await selected({ message: AUTHENTICATE })).toEqual(['C'])
    })

    test('nothing is embedded without items to select from, and an item of the thread is not selected again', async () => {
      const { client } = pipeline()
      let calls = 0
      await start(['assemble'], {
        embedder: knowing(async () => {
          calls++
        }),
      })
      await client.items.put('holding', RULE_A)
      await client.items.put('holding', RULE_C)
      await client.threads.put('held-run', { agent: 'holding' })
      await client.items.addToThread('held-run', { type: 'rule', name: 'C' })
      const context = await client.contexts.build({ thread: 'held-run', message: AUTHENTICATE })
      expect(context.items).toEqual([
        { type: 'rule', name: 'A', includeMode: 'always' },
        { type: 'rule', name: 'C', includeMode: 'manual' },
      ])
      expect(context.receipt.selection).toBeUndefined()
      expect(calls).toBe(0)
    })

    test('a changed rule is new in the next context, and a removed one is absent from later contexts, but not from older receipts', async () => {
      const { client } = pipeline()
      await start(['assemble'], { embedder: knowing() })
      const thread = await openThread(client, 'changing')
      const before = await client.contexts.build({ thread, message: 'begin' })
      await client.items.put('changing', { ...RULE_A, text: 'Be very brief.' })
      await client.items.remove('changing', { type: 'rule', name: 'B' })
      const after = await client.contexts.build({ thread, message: 'go on' })
      expect(contents(after)).toEqual(['Rule: Be very brief.', 'Reference: The API has version 2.', 'go on'])
      expect(await client.contexts.get(before.id, { rebuild: true })).toEqual(before)
      const old = before.receipt.entries.flatMap(({ item }) => (item?.name === 'B' ? [item] : []))
      expect(
        await client.items.get('changing', { type: 'rule', name: 'B' }, { version: old[0]?.version ?? 0 }),
      ).toMatchObject({ text: 'Write tests.' })
    })

    test('tools are delivered beside the messages with their schemas, with the server in the name if two share a name', async () => {
      const { client } = pipeline()
      await start(['assemble'], { embedder: knowing() })
      const inputSchema = { type: 'object', properties: { path: { type: 'string' } } }
      const put = (serverName: string, name: string, include: 'always' | 'agent') =>
        client.items.put('toolmaker', { type: 'tool', name, serverName, description: 'Does it.', inputSchema, include })
      await put('files', 'write', 'always')
      await put('files', 'read_file', 'agent')
      await put('web', 'write', 'agent')
      await client.threads.put('tooled', { agent: 'toolmaker' })
      const request = { thread: 'tooled', message: AUTHENTICATE } as const
      const { tools, tokensUsed, receipt } = await client.contexts.build({ ...request, format: 'openai-chat' })
      expect(tools).toEqual(
        ['files__write', 'read_file'].map((name) => ({
          type: 'function',
          function: { name, description: 'Does it.', parameters: inputSchema },
        })),
      )
      const tokens = receipt.entries.reduce((sum, entry) => sum + entry.tokens, 0)
      expect(receipt.entries.filter(({ item }) => item?.type === 'tool' && item.includeMode === 'always')).toHaveLength(
        1,
      )
      expect(tokensUsed).toBeGreaterThanOrEqual(tokens)
      const anthropic = await client.contexts.build({ ...request, format: 'anthropic' })
      expect(anthropic.tools[0]).toEqual({ name: 'files__write', description: 'Does it.', input_schema: inputSchema })
    })

    test('searchContextItems returns the given items that are relevant to a query, with their scores', async () => {
      const { store, queues, client } = pipeline()
      await openThread(client, 'searched')
      const own = createClient({ store, queues, project: 'tests', embedder: async () => knowing() })
      const both = [RULE_C, REFERENCE_Y].map(({ type, name }) => ({ type, name }))
      const search = (options = {}) => own.items.searchContextItems('searched', AUTHENTICATE, both, options)
      const found = { type: 'rule', name: 'C', includeMode: 'agent', similarityScore: near(0.92) }
      expect(await search()).toEqual([found])
      expect(await search({ minScore: 0 })).toEqual([found, expect.objectContaining({ name: 'Y' })])
      expect(await search({ topN: 0, includeScore: 0.95 })).toEqual([])
      const tool = { type: 'tool', name: 'read_file', serverName: 'files' } as const
      await client.items.put('searched', { ...tool, description: 'Reads.', include: 'agent' })
      const unserved = await own.items.searchContextItems('searched', AUTHENTICATE, [
        { type: 'tool', name: 'read_file' },
      ])
      expect(unserved).toEqual([{ ...tool, includeMode: 'agent', similarityScore: near(0.8) }])
      const without = createClient({ store, queues, project: 'tests' })
      await expect(without.items.searchContextItems('searched', AUTHENTICATE, both)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
      })
    })
  })
})
