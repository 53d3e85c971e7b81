import { setImmediate } from 'node:timers/promises'
import { type SummaryRequest, type SummarySource, summarizeExtractively } from '@heddle/core'
import { expect, test } from 'vitest'
import { createExtractiveSummarizer } from './extractive-summarizer.js'

const request: SummaryRequest = {
  purpose: 'compaction',
  messages: [
    {
      reference: 'msg-aaaaaaaa',
      role: 'user',
      text: 'Please move the payment service to Postgres 18 before Friday.',
      toolName: null,
      isError: false,
      pinned: false,
      orderedAtMs: 0,
    },
  ],
  previousSummary: null,
  tokensMax: 500,
}

test('the extractive summary consists of text of the messages', async () => {
  const summary = await createExtractiveSummarizer().summarize(request)
  expect(summary).toBe(summarizeExtractively(request))
  expect(summary).toContain('payment service')
})

test('an aborted summary is not written', async () => {
  const reason = new Error('no longer needed')
  await expect(createExtractiveSummarizer().summarize(request, AbortSignal.abort(reason))).rejects.toBe(reason)
})

test('other work of the process runs while a long range is summarized', async () => {
  const [message] = request.messages
  const messages = Array.from({ length: 400 }, (_, place) => ({
    ...(message as SummarySource),
    text: `Please move the payment service ${place} to Postgres ${place} before Friday. `.repeat(20),
  }))
  let isDone = false
  const summary = createExtractiveSummarizer()
    .summarize({ ...request, messages })
    .finally(() => {
      isDone = true
    })
  let rounds = 0
  while (!isDone) {
    await setImmediate()
    rounds++
  }
  expect(await summary).toContain('payment service')
  expect(rounds).toBeGreaterThan(5)
})
