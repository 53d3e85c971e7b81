import type { SummarizationProvider, SummaryCall } from '@heddle/contracts'
import { countTokens, foldBounds, type SummaryRequest, type SummarySource, summarizeExtractively } from '@heddle/core'
import { createSummarizers, type Summarizer } from '@heddle/models'
import { createLogger, systemClock } from '@heddle/runtime'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../support/src/manual-clock.js'
import {
  type ProtocolReply,
  type ProtocolServer,
  plainSummary,
  startProtocolServer,
} from '../support/src/servers/protocol-server.js'

const log = createLogger({ level: 'silent', name: 'test' })

function source(role: SummarySource['role'], text: string, more: Partial<SummarySource> = {}): SummarySource {
  return {
    reference: 'msg-aaaaaaaa',
    role,
    text,
    toolName: null,
    isError: false,
    pinned: false,
    orderedAtMs: 0,
    ...more,
  }
}

function request(more: Partial<SummaryRequest> = {}): SummaryRequest {
  return {
    purpose: 'compaction',
    messages: [
      source('user', 'Please move the payment service to Postgres 18 before Friday. '.repeat(10)),
      source('assistant', 'I moved the payment service, and the tests pass. '.repeat(10)),
    ],
    previousSummary: null,
    tokensMax: 300,
    ...more,
  }
}

let server: ProtocolServer
beforeAll(async () => {
  server = await startProtocolServer()
})
afterAll(() => server.close())

/** Each adapter with the variables for the test server, and a model with a known window. */
const adapters = [
  { provider: 'openai' as const, env: () => ({ OPENAI_API_KEY: 'key-openai', OPENAI_BASE_URL: server.openAiUrl }) },
  {
    provider: 'cerebras' as const,
    env: () => ({ CEREBRAS_API_KEY: 'key-cerebras', CEREBRAS_BASE_URL: server.openAiUrl }),
  },
  { provider: 'xai' as const, env: () => ({ XAI_API_KEY: 'key-xai', XAI_BASE_URL: server.openAiUrl }) },
  { provider: 'groq' as const, env: () => ({ GROQ_API_KEY: 'key-groq', GROQ_BASE_URL: server.openAiUrl }) },
  { provider: 'gemini' as const, env: () => ({ GEMINI_API_KEY: 'key-gemini', GEMINI_BASE_URL: server.openAiUrl }) },
  { provider: 'ollama' as const, env: () => ({ OLLAMA_BASE_URL: server.openAiUrl }) },
  {
    provider: 'anthropic' as const,
    env: () => ({ ANTHROPIC_API_KEY: 'key-anthropic', ANTHROPIC_BASE_URL: server.anthropicUrl }),
  },
]

interface Opened {
  readonly summarizer: Summarizer
  readonly clock: ManualClock
  readonly calls: SummaryCall[]
  run(asked?: SummaryRequest, signal?: AbortSignal): Promise<string>
}

function open(provider: SummarizationProvider, env: Record<string, string>, model: string | null = null): Opened {
  const clock = new ManualClock()
  const calls: SummaryCall[] = []
  const summarizer = createSummarizers({ env, clock, log }).of({
    summarizationProvider: provider,
    summarizationModel: model,
    model: null,
  })
  return {
    summarizer,
    clock,
    calls,
    run: (asked = request(), signal) => summarizer.summarize(asked, signal, { onCall: (call) => calls.push(call) }),
  }
}

/** Answers the first requests with faults, and the rest well. */
function failing(...faults: readonly ProtocolReply[]): void {
  const from = server.requests.length
  server.respond((asked) => faults[asked.number - from - 1] ?? plainSummary(asked))
}

/** Advances the clock until a call has ended, without sleeping. */
async function whileTimePasses<T>(clock: ManualClock, call: Promise<T>, stepMs = 1_000): Promise<T> {
  let isDone = false
  const ended = call.finally(() => {
    isDone = true
  })
  ended.catch(() => undefined)
  while (!isDone) await clock.advance(stepMs)
  return ended
}

describe.each(adapters)('the summarizer behind $provider', ({ provider, env }) => {
  const opened = () => open(provider, env())
  beforeEach(() => server.respond(plainSummary))

  test('returns the text of the model, and reports its cost', async () => {
    const { summarizer, calls, run } = opened()
    const from = server.requests.length
    expect(await run()).toMatch(/^They spoke of: /)
    const [asked] = server.requests.slice(from)
    expect(asked).toMatchObject({
      system: expect.stringContaining('at most'),
      user: expect.stringContaining('payment'),
    })
    expect(asked?.key).toBe(provider === 'ollama' ? 'none' : `key-${provider}`)
    expect(summarizer.name).toBe(`${provider} ${asked?.model}`)
    expect(calls).toMatchObject([{ purpose: 'compaction', provider, outcome: 'ok', errorCode: null }])
    expect(calls[0]?.inputTokens).toBeGreaterThan(100)
    expect(calls[0]?.outputTokens).toBeGreaterThan(0)
    expect(calls[0]?.costUsd).toBeGreaterThanOrEqual(0)
  })

  test.each([
    { fault: 'busy', reply: { kind: 'status', status: 429, retryAfter: '7' }, waitMs: 7_000 },
    { fault: 'broken', reply: { kind: 'status', status: 500 }, waitMs: 500 },
    { fault: 'overloaded', reply: { kind: 'status', status: 529 }, waitMs: 500 },
    { fault: 'cut off', reply: { kind: 'cut' }, waitMs: 500 },
    { fault: 'unfinished', reply: { kind: 'unfinished' }, waitMs: 500 },
    { fault: 'malformed', reply: { kind: 'malformed' }, waitMs: 500 },
    { fault: 'silent', reply: { kind: 'silent' }, waitMs: 60_500 },
  ] as const)('retries after an answer that was $fault', async ({ reply, waitMs }) => {
    const { clock, calls, run } = opened()
    failing(reply)
    const startMs = clock.nowMs()
    expect(await whileTimePasses(clock, run(), 500)).toMatch(/^They spoke of: /)
    expect(calls.map(({ outcome }) => outcome)).toEqual(['failed', 'ok'])
    expect(clock.nowMs() - startMs).toBeGreaterThanOrEqual(waitMs)
  })

  test('waits until the date that a busy provider names', async () => {
    const { clock, run } = opened()
    const startMs = clock.nowMs()
    failing({ kind: 'status', status: 503, retryAfter: new Date(startMs + 12_000).toUTCString() })
    await whileTimePasses(clock, run(), 500)
    expect(clock.nowMs() - startMs).toBeGreaterThanOrEqual(12_000)
  })

  test('returns a retryable error for a long wait instead of blocking its worker', async () => {
    const { calls, run } = opened()
    failing({ kind: 'status', status: 429, retryAfter: '600' })
    await expect(run()).rejects.toMatchObject({ code: 'RATE_LIMITED', disposition: 'retry', retryAfter: 600 })
    expect(calls).toHaveLength(1)
  })

  test.each([
    { fault: 'empty', reply: { kind: 'text', text: ' \n' }, says: 'empty' },
    { fault: 'a question', reply: { kind: 'text', text: 'Please provide the conversation.' }, says: 'refusal' },
    { fault: 'refused', reply: { kind: 'refusal' }, says: 'refused' },
    { fault: 'cut at its length', reply: { kind: 'length', text: 'They spoke of' }, says: 'cut off' },
    { fault: 'a tool call', reply: { kind: 'text', text: '<function_calls><invoke name="x">' }, says: 'protocol' },
    { fault: 'too long', reply: { kind: 'text', text: 'many words '.repeat(400) }, says: 'the limit is 300' },
  ] as const)('retries once after an answer that was $fault, and refuses the second', async ({ reply, says }) => {
    const { calls, run } = opened()
    failing(reply)
    expect(await run()).toMatch(/^They spoke of: /)
    failing(reply, reply)
    await expect(run()).rejects.toMatchObject({ disposition: 'retry', message: expect.stringContaining(says) })
    expect(calls.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok'])
  })

  test('does not retry a refused key or an unknown model', async () => {
    for (const [status, code] of [
      [401, 'UNAUTHORIZED'],
      [403, 'FORBIDDEN'],
      [404, 'NOT_FOUND'],
      [400, 'VALIDATION_ERROR'],
    ] as const) {
      const { calls, run } = opened()
      failing({ kind: 'status', status })
      await expect(run()).rejects.toMatchObject({ code, disposition: 'give-up' })
      expect(calls).toMatchObject([{ outcome: 'failed', errorCode: code }])
    }
  })

  test('learns the context window from an overflow, and summarizes larger inputs in parts', async () => {
    const { calls, run } = opened()
    const windowTokens = 3_000
    server.respond((asked) => {
      const requestedTokens = Math.ceil((asked.system.length + asked.user.length) / 3) + asked.outputTokensMax
      return requestedTokens > windowTokens ? { kind: 'overflow', windowTokens, requestedTokens } : plainSummary(asked)
    })
    const messages = Array.from({ length: 60 }, (_, index) =>
      source(
        index % 2 === 0 ? 'user' : 'assistant',
        `Step ${index}: ${'the build of the parser went on. '.repeat(12)}`,
      ),
    )
    expect(await run(request({ messages }))).toMatch(/^They spoke of: /)
    expect(calls.some(({ outcome }) => outcome === 'failed')).toBe(true)
    const before = calls.length
    await run(request({ messages }))
    expect(calls.slice(before).filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect(calls.length - before).toBeGreaterThan(3)
  })

  test('sends no secret, whichever message contains it', async () => {
    const { run } = opened()
    const secrets = ['sk-proj-abcdefghijklmnop0123456789', 'hunter2hunter2', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789']
    const text = `use ${secrets[0]} and postgres://app:${secrets[1]}@db/app and ${secrets[2]}`
    const from = server.requests.length
    await run(request({ messages: [source('user', text, { pinned: true })], previousSummary: text }))
    const sent = JSON.stringify(server.requests.slice(from))
    for (const secret of secrets) expect(sent).not.toContain(secret)
    expect(sent).toContain('[redacted:api-key]')
  })

  test('adds a pinned fact that the model left out', async () => {
    const { run } = opened()
    const messages = [source('user', 'The launch code is BLUE-42.', { pinned: true }), ...request().messages]
    const summary = await run(request({ messages }))
    expect(summary).toContain('The launch code is BLUE-42.')
    expect(countTokens(summary)).toBeLessThanOrEqual(300)
  })

  test('cancels a summary at once when it is no longer needed', async () => {
    const { run } = opened()
    server.respond(() => ({ kind: 'silent' }))
    const from = server.requests.length
    const controller = new AbortController()
    const reason = new Error('no longer needed')
    const running = run(request(), controller.signal)
    running.catch(() => undefined)
    while (server.requests.length === from) await new Promise((resolve) => setImmediate(resolve))
    controller.abort(reason)
    await expect(running).rejects.toBe(reason)
  })

  test('ends all calls of a summary within one deadline', async () => {
    const { clock, calls, run } = opened()
    server.respond(() => ({ kind: 'silent' }))
    const startMs = clock.nowMs()
    const failed = whileTimePasses(clock, run(), 5_000)
    await expect(failed).rejects.toMatchObject({ code: 'TIMEOUT', disposition: 'retry' })
    expect(clock.nowMs() - startMs).toBeLessThanOrEqual(300_000)
    expect(calls).toHaveLength(3)
  })

  test('is not called for a while after repeated failures of the provider, and then tries it again', async () => {
    const { clock, calls, run } = opened()
    server.respond(() => ({ kind: 'status', status: 500 }))
    await expect(whileTimePasses(clock, run())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await expect(whileTimePasses(clock, run())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(calls).toHaveLength(5)
    server.respond(plainSummary)
    await expect(whileTimePasses(clock, run(), 1)).rejects.toMatchObject({
      message: expect.stringContaining('is not called for a while'),
    })
    expect(calls).toHaveLength(5)
    await clock.advance(30_000)
    expect(await run()).toMatch(/^They spoke of: /)
    expect(calls).toHaveLength(6)
  })
})

describe('a fold', () => {
  const env = () => ({ OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.openAiUrl })

  test('reads every message that fits its parts, within its limit of calls', async () => {
    const seen = new Set<number>()
    server.respond((asked) => {
      for (const [, number] of asked.user.matchAll(/marker-(\d+)/g)) seen.add(Number(number))
      return { kind: 'text', text: 'They went on with the work.' }
    })
    // A model in no table has a window of 8,000 tokens.
    const { calls, run } = open('openai', env(), 'some-small-model')
    const messages = Array.from({ length: 600 }, (_, index) => source('user', `marker-${index} ${'word '.repeat(60)}`))
    await run(request({ messages }))
    expect(seen.size).toBe(600)
    expect(calls.length).toBeGreaterThan(5)
    expect(calls.length).toBeLessThanOrEqual(foldBounds.callsMax)
  })

  test('cuts the middle of an oversized message, and says how to recall it', async () => {
    const { run } = open('openai', env(), 'some-small-model')
    server.respond(plainSummary)
    const from = server.requests.length
    const huge = source('tool_result', `first words ${'x y '.repeat(60_000)} last words`, { reference: 'msg-bigbig88' })
    await run(request({ messages: [source('user', 'go on'), huge] }))
    const sent = server.requests.slice(from).map(({ user }) => user)
    expect(Math.max(...sent.map((user) => countTokens(user)))).toBeLessThan(8_000)
    const holding = sent.find((user) => user.includes('first words'))
    expect(holding).toContain('last words')
    expect(holding).toContain('recall:msg-bigbig88')
  })

  test('uses the prompts of the specification', async () => {
    const { run } = open('openai', env())
    server.respond(() => ({ kind: 'text', text: 'They went on with the work. Tests are left.' }))
    const ask = async (purpose: SummaryRequest['purpose']) => {
      await run(request({ purpose, previousSummary: 'Before that they planned.' }))
      return server.requests.at(-1)
    }
    expect((await ask('compaction'))?.user).toMatch(
      /^Summarize this conversation excerpt concisely\. Preserve:\n- Key facts and decisions made\n- Important context needed to continue the discussion\n- User preferences or requirements mentioned\n- Any commitments or action items\n\nDo not include greetings or filler\. Focus on information density\.\n\nConversation:\n---\n[\s\S]*\n---$/,
    )
    expect((await ask('progress'))?.user).toMatch(
      /^## Existing Progress Summary\nBefore that they planned\.\n\n## New Iterations to Incorporate\n[\s\S]*\n\n## Task\nGenerate an updated progress summary that:\n1\. Preserves key decisions and findings\n2\. Notes what approaches worked\/failed\n3\. Tracks current state and next steps\n4\. Is concise \(max \d+ words\)\n\nLeave out:\n- Verbose output logs\n- Temporary debugging info\n- Repeated error messages\n- Implementation details already in code\n\nName iterations with an empty output\.$/,
    )
    expect((await ask('snapshot'))?.system).toMatch(
      /^Summarize this conversation in 2-4 sentences\. Focus on what was accomplished, decisions made, and any unfinished work\.\n/,
    )
  })
})

test('the extractive summarizer implements the same port', async () => {
  const summarizer = createSummarizers({ env: {}, clock: systemClock, log }).of({
    summarizationProvider: null,
    summarizationModel: null,
    model: null,
  })
  expect(summarizer.name).toBe('extractive')
  expect(await summarizer.summarize(request())).toBe(summarizeExtractively(request()))
})
