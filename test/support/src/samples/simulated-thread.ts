import { createHash } from 'node:crypto'
import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import {
  type ArchiveDraft,
  archivesOf,
  type CompactionState,
  comparePositions,
  countTokens,
  inConversationOrder,
  ineligibleReason,
  isCovered,
  isOvertaken,
  type Lane,
  laneOf,
  type Message,
  messageReference,
  nextCompaction,
  pairToolCalls,
  readConversation,
  stateAfter,
  summarizeExtractively,
  summarySources,
  summaryTokensMax,
} from '@heddle/core'

const reference = (message: Message) => messageReference(message.code)

/**
 * The pipeline as the store and the stages run it, in memory: messages arrive in some order and get their sequence
 * numbers by it, a worker runs now and then, and late messages void compactions. Only messages outside of a state are
 * read, as from the store.
 */
export class SimulatedThread {
  readonly stored: Message[] = []
  series: CompactionState[] = []
  /** The archived contents, by {@link archiveKey}; as in the store, an existing one does not change. */
  readonly archive = new Map<string, ArchiveDraft>()
  readonly lane: Lane

  /**
   * @param summarize the text of the newest state's summary, written after a worker's steps: no plan depends on it.
   *   Default: a hash of the range of each state, of some length
   */
  constructor(
    readonly settings: PartialSettings,
    private readonly summarize?: SimulatedSummarizer,
  ) {
    this.lane = laneOf(mergeSettings(settings))
  }

  get state(): CompactionState | null {
    return this.series.at(-1) ?? null
  }

  arrive(message: Message): void {
    this.stored.push({ ...message, seq: this.stored.length + 1 })
  }

  /** The messages that the store reads for a state: the top, those after the covered range, and late ones. */
  uncovered(state: CompactionState | null): Message[] {
    const to = state?.covered?.to
    if (!state || !to) return [...this.stored]
    return this.stored.filter(
      (message) =>
        state.topIds.includes(message.id) ||
        comparePositions(message, to) > 0 ||
        (message.seq > state.headSeq && comparePositions(message, to) <= 0),
    )
  }

  /** A worker that is interrupted after `steps` steps. */
  work(steps: number): void {
    this.#compact(steps)
    const { state } = this
    if (this.summarize === undefined || state?.covered == null || state.summary !== null) return
    this.series[this.series.length - 1] = { ...state, ...this.summarize(this.coveredBy(state), this.lane) }
  }

  #compact(steps: number): void {
    for (let step = 0; step < steps; step++) {
      const messages = this.uncovered(this.state)
      const overtaken = this.series.findIndex((state) => messages.some((message) => isOvertaken(state, message)))
      if (overtaken >= 0) {
        this.series = this.series.slice(0, overtaken)
        continue
      }
      const plan = nextCompaction(readConversation(messages), this.state, this.lane, reference)
      if (!plan) return
      for (const draft of plan.prunings.flatMap(archivesOf)) {
        const key = archiveKey(draft)
        if (!this.archive.has(key)) this.archive.set(key, draft)
      }
      const before = this.state
      const next = stateAfter(plan, before, this.stored.length)
      const isHashed = plan.needsSummary && this.summarize === undefined
      this.series.push(isHashed ? { ...next, ...hashOfCovered(this.coveredBy(next), this.lane) } : next)
    }
  }

  settle(): void {
    this.work(Number.POSITIVE_INFINITY)
  }

  /** The input of the summarize stage for a state. */
  coveredBy(state: CompactionState): Message[] {
    const covered = this.stored.filter((message) => isCovered(message, state))
    return inConversationOrder(covered.filter((message) => ineligibleReason(message) === null))
  }
}

export function archiveKey({ messageId, location }: Pick<ArchiveDraft, 'messageId' | 'location'>): string {
  return `${messageId}:${location}`
}

type SimulatedSummarizer = (
  covered: readonly Message[],
  lane: Lane,
) => Pick<CompactionState, 'summary' | 'summaryTokens'>

/** A summary that contains a hash of its input, and whose length depends on it. */
function hashOfCovered(covered: readonly Message[], lane: Lane) {
  const ids = covered.map((message) => message.id)
  const hash = createHash('sha256').update(ids.join(' ')).digest()
  return { summary: hash.toString('hex'), summaryTokens: 1 + ((hash[0] ?? 0) % summaryTokensMax(lane)) }
}

/** The summary that the summarize stage writes without a model. */
export function extractiveSummary(covered: readonly Message[], lane: Lane) {
  const messages = summarySources(covered, pairToolCalls(covered), reference)
  const tokensMax = summaryTokensMax(lane)
  const summary = summarizeExtractively({ purpose: 'compaction', messages, previousSummary: null, tokensMax })
  return { summary, summaryTokens: countTokens(summary) }
}
