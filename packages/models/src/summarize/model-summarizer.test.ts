import { foldBounds, type SummaryRequest, type SummarySource } from '@heddle/core'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import type { ChatModel, ChatRequest } from '../chat/chat-model.js'
import { createModelSummarizer } from './model-summarizer.js'

function source(text: string): SummarySource {
  return {
    reference: 'msg-aaaaaaaa',
    role: 'user',
    text,
    toolName: null,
    isError: false,
    pinned: false,
    orderedAtMs: 0,
  }
}

const request = (messages: readonly SummarySource[]): SummaryRequest => ({
  purpose: 'compaction',
  messages,
  previousSummary: null,
  tokensMax: 300,
})

function summarizerOf(complete: (asked: ChatRequest) => Promise<string>, clock = new ManualClock()) {
  const chat: ChatModel = {
    provider: 'test',
    model: 'small',
    complete: async (asked) => ({ text: await complete(asked), finish: 'stop', inputTokens: null, outputTokens: null }),
  }
  return createModelSummarizer({
    chat,
    facts: { windowTokens: 8_000, price: [1, 10] },
    margin: 1.25,
    clock,
    totalMsMax: 90_000,
  })
}

const many = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    source(`Step ${index}: ${'the parser was made to read one more line. '.repeat(20)}`),
  )

test('all calls together end within their time limit, however slow each of them is', async () => {
  const clock = new ManualClock()
  // Each answer takes 20 seconds, which is within the limit of one call.
  const summarizer = summarizerOf(async () => {
    await clock.wait(20_000)
    return 'They went on with the work.'
  }, clock)
  const startMs = clock.nowMs()
  let isDone = false
  const failing = summarizer.summarize(request(many(900))).finally(() => {
    isDone = true
  })
  failing.catch(() => undefined)
  while (!isDone) await clock.advance(1_000)
  await expect(failing).rejects.toMatchObject({ code: 'TIMEOUT', disposition: 'retry' })
  expect(clock.nowMs() - startMs).toBeLessThanOrEqual(92_000)
})

test('an unusable answer is requested again, and a second one fails the whole summary', async () => {
  let calls = 0
  const summarizer = summarizerOf(async () => (++calls % 5 === 0 ? '' : 'They went on with the work.'))
  const bad = summarizerOf(async () => '')
  await expect(summarizer.summarize(request(many(200)))).resolves.toBe('They went on with the work.')
  await expect(bad.summarize(request(many(200)))).rejects.toMatchObject({ field: 'summary' })
})

test('the summary of a model that ignores the length fails within the limit of calls', async () => {
  let calls = 0
  const summarizer = summarizerOf(async () => {
    calls++
    return 'many words '.repeat(2_000)
  })
  await expect(summarizer.summarize(request(many(900)))).rejects.toMatchObject({ disposition: 'retry' })
  expect(calls).toBeLessThanOrEqual(foldBounds.callsMax)
})

test('tokens that the provider does not report are counted by Heddle, with their price', async () => {
  const summarizer = summarizerOf(async () => 'They went on with the work.')
  const calls: unknown[] = []
  await summarizer.summarize(request(many(1)), undefined, { onCall: (call) => calls.push(call) })
  expect(calls).toMatchObject([{ provider: 'test', model: 'small', outputTokens: 7 }])
  const [{ inputTokens, costUsd }] = calls as [{ inputTokens: number; costUsd: number }]
  expect(inputTokens).toBeGreaterThan(250)
  expect(costUsd).toBeCloseTo((inputTokens + 70) / 1_000_000, 9)
})

test('reasoning within tags is removed from a summary', async () => {
  const summarizer = summarizerOf(async () => '<think>Let me see.\nWhat was it?</think>\n\nThey went on with the work.')
  expect(await summarizer.summarize(request(many(1)))).toBe('They went on with the work.')
})

test('parts that are aborted because another one failed do not count as failures of the provider', async () => {
  const clock = new ManualClock()
  let calls = 0
  const chat: ChatModel = {
    provider: 'test',
    model: 'small',
    complete: (_, signal) => {
      // The first of each four fails, the others never answer.
      if (calls++ % 4 === 0) return Promise.reject(Object.assign(new Error('broken'), { status: 500 }))
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  }
  const facts = { windowTokens: 8_000, price: null }
  const summarizer = createModelSummarizer({ chat, facts, margin: 1.25, clock, limits: { attemptsMax: 1 } })
  for (let failures = 1; failures <= 4; failures++) {
    await expect(summarizer.summarize(request(many(200)))).rejects.toThrow('failed (500)')
    expect(calls).toBe(4 * failures)
  }
  await expect(summarizer.summarize(request(many(200)))).rejects.toThrow('failed (500)')
  await expect(summarizer.summarize(request(many(200)))).rejects.toThrow('is not called for a while')
  expect(calls).toBe(20)
})

test('parts that were finished before a failure are not requested again', async () => {
  const kept = new Map<string, string>()
  const parts = {
    load: async (hash: string) => kept.get(hash) ?? null,
    keep: async (hash: string, summary: string) => void kept.set(hash, summary),
  }
  let [calls, failsAfter] = [0, 20]
  const answered = new Set<string>()
  const again: string[] = []
  const summarizer = summarizerOf(async ({ user }) => {
    if (++calls > failsAfter) throw Object.assign(new Error('a bad key'), { status: 401 })
    if (answered.has(user)) again.push(user)
    answered.add(user)
    return 'They went on with the work.'
  })
  const asked = request(many(1_400))
  await expect(summarizer.summarize(asked, undefined, { parts })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect(kept.size).toBe(20)
  failsAfter = Number.POSITIVE_INFINITY
  calls = 0
  expect(await summarizer.summarize(asked, undefined, { parts })).toBe('They went on with the work.')
  expect(again).toEqual([])
  expect(calls).toBe(21)
})

test('a snapshot of one sentence, or of five, is requested once more, and then refused', async () => {
  const asked = { ...request([source('We moved the service. It works.')]), purpose: 'snapshot' as const }
  const answers = ['They moved it.', 'They moved it. It works.']
  expect(await summarizerOf(async () => answers.shift() ?? '').summarize(asked)).toBe('They moved it. It works.')
  const many = 'It is so. '.repeat(5)
  await expect(summarizerOf(async () => many).summarize(asked)).rejects.toMatchObject({
    field: 'summary',
    message: expect.stringContaining('it has 5 sentences'),
  })
})

test('a snapshot larger than one prompt is held to its sentences as a whole, and repeats no pins', async () => {
  const pinned = { ...source('Never touch the old ledger.'), pinned: true }
  const asked = { ...request([pinned, ...many(60)]), purpose: 'snapshot' as const }
  let calls = 0
  const summary = await summarizerOf(async ({ user }) => {
    calls++
    return user.includes('Step') ? 'A part of the steps.' : 'They read lines. It works.'
  }).summarize(asked)
  expect(calls).toBeGreaterThan(2)
  expect(summary).toBe('They read lines. It works.')
})
