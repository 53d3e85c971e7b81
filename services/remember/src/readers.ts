import { randomUUID } from 'node:crypto'
import type { Settings, SummaryCall } from '@heddle/contracts'
import { extractAll, FACT_PROMPT, FACT_RULES, factPrompt, type Message, readFactReply } from '@heddle/core'
import type { Summarizer, Summarizers } from '@heddle/models'
import { type Clock, type Logger, runCooperatively } from '@heddle/runtime'
import { countSummaries, type FactReader, insertSummaryCalls, type ReadFacts, type Store } from '@heddle/store'

export interface ReaderDeps {
  readonly store: Store
  readonly summarizers: Summarizers
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

interface ThreadToRead {
  readonly projectId: string
  readonly threadId: string
  readonly signal: AbortSignal
}

/** Readings of one thread per hour that may call a provider, including failed ones; further ones are by the rules. */
const READINGS_PER_HOUR_MAX = 60
const HOUR_MS = 3_600_000
/** Messages that a model reads at once: with their longest texts less than any model's window. */
const MODEL_MESSAGES_MAX = 10
const REPLY_TOKENS_MAX = 4_000

/** The reader of a thread's settings: a model where one is configured for summaries, else the rules. */
export function readerOf(settings: Settings, thread: ThreadToRead, deps: ReaderDeps): FactReader {
  const summarizer = settings.remember === 'model' ? deps.summarizers.of(settings) : null
  if (summarizer?.answer === undefined) return { read: (messages) => readByRules(messages, thread) }
  return {
    messagesMax: MODEL_MESSAGES_MAX,
    read: async (messages) =>
      (await readByModel(messages, { summarizer, thread, deps })) ?? (await readByRules(messages, thread)),
  }
}

async function readByRules(messages: readonly Message[], { threadId }: ThreadToRead): Promise<ReadFacts> {
  return { extractor: FACT_RULES, facts: await runCooperatively(extractAll(threadId, messages)) }
}

interface ModelReading {
  readonly summarizer: Summarizer
  readonly thread: ThreadToRead
  readonly deps: ReaderDeps
}

/** @returns null if the rules are to read instead: the model was called too often, or its answer is unusable */
async function readByModel(
  messages: readonly Message[],
  { summarizer, thread, deps }: ModelReading,
): Promise<ReadFacts | null> {
  const { projectId, threadId, signal } = thread
  const extractor = `${FACT_PROMPT} ${summarizer.name}`
  const prompt = factPrompt(messages)
  if (prompt === null) return { extractor, facts: [] }
  const sinceMs = deps.clock.nowMs() - HOUR_MS
  const made = await deps.store.inProject(projectId, (tx) => countSummaries(tx, { threadId, sinceMs, of: 'facts' }))
  const byRules = (reason: string) => {
    deps.log.warn({ projectId, threadId, extractor, reason }, 'facts are read by the rules instead of the model')
    return null
  }
  if (made >= READINGS_PER_HOUR_MAX) return byRules(`${made} readings in an hour`)
  const calls: SummaryCall[] = []
  try {
    const { system, user } = prompt
    const asked = { purpose: 'facts', system, user, tokensMax: REPLY_TOKENS_MAX } as const
    const reply = await summarizer.answer?.(asked, signal, { onCall: (call) => calls.push(call) })
    const facts = reply == null ? null : readFactReply(reply, prompt, { threadId, extractor })
    return facts === null ? byRules('the answer is unusable') : { extractor, facts }
  } finally {
    await deps.store.inProject(projectId, (tx) => insertSummaryCalls(tx, { threadId, summaryId: randomUUID(), calls }))
  }
}
