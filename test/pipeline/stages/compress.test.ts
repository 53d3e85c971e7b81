import { PermanentError } from '@heddle/contracts'
import { summarizeExtractively } from '@heddle/core'
import { waitFor } from '@heddle/test-support'
import { describe, expect, test } from 'vitest'
import { validateOpenAiChat } from '../../support/src/validators/index.js'
import { pipelineOfTests, queueBackends } from '../support.js'
import { AGENT, session } from '../tenant.js'

const messages = session('on-demand', 80)
const THREAD = 'cloth'

describe.each(queueBackends())('a compaction on demand on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('of a thread', () => {
    const tests = pipelineOfTests(mode)

    async function settled(project: string) {
      const client = tests.pipeline.clientOf(project)
      // Large enough that no compaction is due.
      await client.agents.put(AGENT, { settings: { budget: 120_000, rollingWindow: null, maxSummaryTokens: 500 } })
      const given = messages.map(({ message }) => message)
      await client.messages.append({ agent: AGENT, thread: THREAD, messages: given })
      await client.threads.waitUntilSettled(THREAD)
      return client
    }
    const build = (client: Awaited<ReturnType<typeof settled>>) =>
      client.contexts.build({ thread: THREAD, format: 'openai-chat' })

    test('that is not due summarizes the middle at once, returns the summary, and a repeat changes nothing', async () => {
      await tests.start()
      const client = await settled('not due')
      const before = await build(client)
      expect(before.summaryUsed).toBe(false)

      const made = await client.contexts.compress({ thread: THREAD, agent: AGENT })
      expect(made).toMatchObject({
        thread: THREAD,
        agent: AGENT,
        compacted: true,
        summary: { summarizer: 'extractive' },
      })
      expect(made.summarized).toBe(made.summary?.coveredCount)
      expect(made.summarized).toBeGreaterThan(20)
      expect(made.tokensAfter).toBeLessThan(made.tokensBefore / 2)

      const after = await build(client)
      expect(after).toMatchObject({ summaryUsed: true, receipt: { stateId: made.summary?.id } })
      expect(JSON.stringify(after.messages)).toContain(JSON.stringify(made.summary?.text.slice(0, 60)).slice(1, -1))
      expect(after.tokensUsed).toBeLessThan(before.tokensUsed / 2)
      expect(validateOpenAiChat(after.messages as never)).toEqual([])
      expect(after.receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(messages.length)

      await client.threads.waitUntilSettled(THREAD)
      const again = await client.contexts.compress({ thread: THREAD })
      expect(again).toMatchObject({
        compacted: false,
        summarized: 0,
        tokensBefore: made.tokensAfter,
        tokensAfter: made.tokensAfter,
      })
      expect(again.summary).toEqual(made.summary)
    })

    test('is refused without messages, for a missing thread, and for the agent of another', async () => {
      await tests.start()
      const client = await settled('refused')
      await client.threads.put('empty', { agent: AGENT })
      const refused = (options: object) => client.contexts.compress({ thread: THREAD, ...options })
      await expect(refused({ thread: 'empty' })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        message: 'Conversation has no messages',
      })
      await expect(refused({ thread: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(refused({ agent: 'another' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'agent' })
    })

    test('whose model fails is unavailable and leaves the contexts as they were, and the next attempt has it written', async () => {
      const summarizer = {
        name: 'failing',
        isBroken: true,
        async summarize(request: Parameters<typeof summarizeExtractively>[0]) {
          if (this.isBroken) throw new PermanentError('UNAUTHORIZED', 'the key is refused')
          return summarizeExtractively(request)
        },
      }
      await tests.start(undefined, { summarizer })
      const client = await settled('failing')
      const failed = client.contexts.compress({ thread: THREAD })
      await expect(failed).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: expect.stringContaining('refused'),
      })
      const context = await build(client)
      expect(context.summaryUsed).toBe(false)
      expect(context.receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(messages.length)

      // The failed call and the compaction both woke the stage: an attempt that is under way still fails.
      const isIdle = async () =>
        (await tests.pipeline.queues.stats()).every(
          ({ stage, waiting, active }) => stage !== 'summarize' || waiting + active === 0,
        )
      await waitFor(isIdle, { what: 'an idle summarize stage' })
      summarizer.isBroken = false
      const retried = await client.contexts.compress({ thread: THREAD })
      expect(retried).toMatchObject({ compacted: false, summary: { summarizer: 'failing' } })
      expect(await build(client)).toMatchObject({ summaryUsed: true })
    })
  })
})
