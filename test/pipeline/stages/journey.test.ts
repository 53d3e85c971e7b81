import type { NewMessage } from '@heddle/client/interface'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modes, openPipeline, type Pipeline } from '../support.js'

describe.each(modes())('from a queue to a context on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('with all workers running', () => {
    let pipeline: Pipeline

    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start()
    })
    afterAll(() => pipeline?.close())

    test('messages become a context, once, however often they are sent', async () => {
      const { client } = pipeline
      const messages = conversation(30)
      const first = await client.messages.append({
        agent: 'coder',
        thread: 'run',
        messages,
        newAgentRollingWindow: null,
      })
      expect(first).toMatchObject({ stored: messages.length, repeated: 0 })
      expect(await client.messages.append({ agent: 'coder', thread: 'run', messages })).toMatchObject({
        stored: 0,
        repeated: messages.length,
      })

      await client.threads.waitUntilSettled('run')
      const context = await client.contexts.build({ thread: 'run', message: 'go on', format: 'openai-chat' })
      const embedder = 'heddle-hashing-384-v1'
      expect(context.receipt).toMatchObject({ eligible: messages.length, imported: messages.length, embedder })
      expect(context.messages.at(-1)).toEqual({ role: 'user', content: 'go on' })
      expect(await client.contexts.get(context.id)).toEqual(context)
    })

    test('a thread that outgrows its budget is compacted, and condensed messages are recalled to the byte', async () => {
      const { client } = pipeline
      await client.agents.put('small', { settings: { budget: 6_000, rollingWindow: null } })
      const messages = conversation(120)
      await client.messages.append({ agent: 'small', thread: 'long', messages })
      await client.threads.waitUntilSettled('long')

      const thread = await client.threads.get('long')
      expect(thread.states.length).toBeGreaterThan(0)
      expect(thread.prunings.condense).toBeGreaterThan(0)
      const context = await client.contexts.build({ thread: 'long' })
      expect(context.receipt.stateId).toBe(thread.states.at(-1)?.id)
      expect(context.tokensUsed).toBeLessThanOrEqual(6_000)
      expect(context.receipt.eligible).toBe(messages.length)

      const condensed = context.receipt.entries.find((entry) => entry.mode === 'condensed')
      const recalled = await client.recall({
        ref: condensed?.reference ?? '',
        thread: 'long',
        maxTokens: 100_000,
      })
      const original = messages.find((message) => message.id === condensed?.messageId)
      expect(recalled.content).toBe(original?.content)
    })

    test('a request for an unknown thread and a request with too small a budget fail with their reasons', async () => {
      const { client } = pipeline
      await expect(client.contexts.build({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await client.messages.append({
        agent: 'coder',
        thread: 'tight',
        messages: conversation(20),
        newAgentRollingWindow: null,
      })
      await expect(client.contexts.build({ thread: 'tight', budget: 10 })).rejects.toMatchObject({
        code: 'BUDGET_TOO_SMALL',
      })
      await expect(client.contexts.build({ thread: 'tight', budget: 0 })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        field: 'budget',
      })
    })

    test('a thread keeps its agent, also when an append adds nothing new', async () => {
      const { client } = pipeline
      const messages = conversation(2)
      await client.messages.append({ agent: 'coder', thread: 'owned', messages })
      const append = client.messages.append({ agent: 'intruder', thread: 'owned', messages })
      await expect(append).rejects.toMatchObject({ code: 'CONFLICT', field: 'agent' })
    })

    test('another message under a used id is a conflict, and nothing of its append is stored', async () => {
      const { client } = pipeline
      const [message] = conversation(1)
      if (!message) throw new Error('the conversation is empty')
      await client.messages.append({ agent: 'coder', thread: 'ids', messages: [message] })
      const other = { ...message, content: 'something else' }
      await expect(client.messages.append({ agent: 'coder', thread: 'ids', messages: [other] })).rejects.toMatchObject({
        code: 'CONFLICT',
      })
      expect((await client.threads.get('ids')).messages).toBe(1)
    })

    test.each(['stored', 'queued'] as const)(
      'an append keeps the stored message under a used id, if asked to (%s)',
      async (ack) => {
        const { client } = pipeline
        const thread = `kept-${ack}`
        const [message] = conversation(1)
        const [further] = conversation(1)
        if (!message || !further) throw new Error('the conversation is empty')
        await client.messages.append({ agent: 'coder', thread, messages: [message] })
        const messages = [{ ...message, content: 'something else' }, further]
        const keeping = { agent: 'coder', thread, messages, onUsedId: 'keep', ack } as const
        const appended = await client.messages.append(keeping)
        if (ack === 'stored') expect(appended).toMatchObject({ stored: 1, repeated: 1 })
        await waitFor(async () => (await client.threads.get(thread)).messages === 2)
        const { items } = await client.messages.list({ thread })
        expect(items.map(({ content }) => content)).toEqual([message.content, further.content])
        expect((await client.deadLetters.list({})).filter((letter) => letter.stage === 'ingest')).toEqual([])
      },
    )
  })
})

let made = 0

/** Turns of an agent that reads files, with distinct ids. */
function conversation(turns: number): NewMessage[] {
  return Array.from({ length: turns }, (_, turn): NewMessage[] => {
    const id = () => `018f0000-0000-7000-8000-${(++made).toString(16).padStart(12, '0')}`
    const call = `call-${turn}`
    if (turn % 10 === 0)
      return [{ id: id(), role: 'user', content: `Please look at part ${turn}; we must keep the API stable.` }]
    return [
      {
        id: id(),
        role: 'assistant',
        content: turn % 3 === 0 ? '' : `Reading file ${turn}`,
        toolCalls: [{ id: call, name: 'Read', arguments: { file_path: `/repo/src/file${turn}.ts` } }],
      },
      {
        id: id(),
        role: 'tool_result',
        toolCallId: call,
        content: `export function part${turn}() {\n  return ${turn}\n}\n`.repeat(12),
      },
    ]
  }).flat()
}
