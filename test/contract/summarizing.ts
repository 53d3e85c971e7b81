import type { PartialSettings, WakeJob } from '@heddle/contracts'
import { type SummaryRequest, summarizeExtractively, threadIdOf } from '@heddle/core'
import { fixedSummarizer, type Summarizer, type Summarizers } from '@heddle/models'
import { type PruneDeps, prune } from '@heddle/prune'
import type { Job, Outcome } from '@heddle/queue'
import { type Compaction, type ContextStateRow, loadCompaction, type Store } from '@heddle/store'
import { type SummarizeDeps, summarize } from '@heddle/summarize'
import { append, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS } from './store/support.js'

/** Records its requests, and fails after a number of them. */
export class TestSummarizer implements Summarizer {
  asked: SummaryRequest[] = []
  failsAfter = Number.POSITIVE_INFINITY
  constructor(readonly name = 'test') {}

  async summarize(request: SummaryRequest): Promise<string> {
    if (this.asked.length >= this.failsAfter) throw new Error('the model is away')
    this.asked.push(request)
    return summarizeExtractively(request)
  }

  /** Requests for parts: those of one size, which differs from that of a state's summary. */
  partsOf(leafTokens: number, fanOut: number): SummaryRequest[] {
    return this.asked.filter(({ tokensMax }) => tokensMax === Math.max(100, Math.floor(leafTokens / fanOut)))
  }
}

const quiet = { clock: { nowMs: () => 0 }, log: { warn: () => {} } }

export function jobFor(thread: string): Job<WakeJob> {
  return {
    payload: { projectId: PROJECT, threadId: threadIdOf(PROJECT, thread) },
    jobId: newId(),
    attempt: 1,
    attemptsMax: 5,
    signal: new AbortController().signal,
  }
}

/** Appends a conversation, each message of about 40 tokens, or of this many more words. */
export async function say(store: Store, thread: string, from: number, count: number, words = 20): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => {
    const number = from + index
    const content = `Number ${number}: we decided that file src/part${number}.ts holds part ${number}. ${'word '.repeat(words)}`
    // Ids determine the ends of leaves: fixed ids give fixed counts.
    const id = `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
    return prepared(
      { id, role: number % 2 === 0 ? 'assistant' : 'user', content },
      { orderedAtMs: RECEIVED_AT_MS + number },
    )
  })
  for (let at = 0; at < messages.length; at += 500) {
    await appendOne(store, append(messages.slice(at, at + 500), { thread }))
  }
}

export function pruneOnce(
  store: Store,
  thread: string,
  settings: PartialSettings,
  more: Partial<PruneDeps> = {},
): Promise<Outcome> {
  return prune(jobFor(thread), { store, settings, ...more })
}

export function summarizeOnce(
  store: Store,
  thread: string,
  settings: PartialSettings,
  summarizers: Summarizers,
  more: Partial<SummarizeDeps> = {},
): Promise<Outcome> {
  return summarize(jobFor(thread), { store, settings, summarizers, ...quiet, publishCompacted: () => {}, ...more })
}

/** Wakes the stages as their jobs do, until no work is left. */
export async function settle(
  store: Store,
  thread: string,
  settings: PartialSettings,
  summarizer: Summarizer | Summarizers,
): Promise<void> {
  const summarizers = 'of' in summarizer ? summarizer : fixedSummarizer(summarizer)
  let stage: 'prune' | 'summarize' = 'prune'
  for (;;) {
    const outcome: Outcome =
      stage === 'prune'
        ? await pruneOnce(store, thread, settings)
        : await summarizeOnce(store, thread, settings, summarizers)
    const next: string | undefined = outcome.next?.[0]?.wake
    if (next !== 'prune' && next !== 'summarize') return
    stage = next
  }
}

/** The state of a compacted thread. */
export async function compactionOf(
  store: Store,
  thread: string,
  settings: PartialSettings,
): Promise<Compaction & { current: ContextStateRow }> {
  const threadId = threadIdOf(PROJECT, thread)
  const found = await store.inProject(PROJECT, (tx) => loadCompaction(tx, { threadId, settings }))
  if (!found?.current) throw new Error('the thread was to be compacted')
  return { ...found, current: found.current }
}
