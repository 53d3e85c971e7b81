import { type SummaryRequest, summarizeExtractively } from '@heddle/core'
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
