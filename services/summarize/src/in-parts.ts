import {
  ineligibleReason,
  leafHash,
  leafLength,
  leafRequest,
  type Message,
  messageReference,
  type Position,
  positionOf,
  type ReadingOptions,
  rawCost,
  redactSecrets,
  type SummaryRequest,
  summaryTokensMax,
  type TreeNode,
  topOfTree,
  wholeRequest,
} from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import { type LeafRow, loadCoveredAfter, loadLeaves, recordLeaf, type Store, type Tx } from '@heddle/store'
import type { CoveredRange } from './covered-range.js'
import { PartSummaries } from './part-summaries.js'

/** Messages of one page: a few leaves. */
const PAGE_MESSAGES = 1_000

/** Input of the final summary, and the tokens that it replaces. */
export interface Whole {
  readonly request: SummaryRequest
  readonly replacedTokens: number
}

const reference = (message: Message) => messageReference(message.code)

/** For a remote provider, secrets are redacted in whole messages. */
function sourceOptions({ isRemote = false }: Summarizer): ReadingOptions {
  return { reference, ...(isRemote && { prepare: redactSecrets }) }
}

/**
 * Reduces a long range to one summary request, by levels of parts whose summaries are stored. Only parts that no earlier
 * compaction summarized are read: new leaves, and the parts that they complete. If the summarizer fails, finished parts are
 * kept, and the current state stays unchanged.
 *
 * @returns null if one job is not enough; the next one continues
 */
export async function prepareWhole(range: CoveredRange, store: Store, signal: AbortSignal): Promise<Whole | null> {
  const summaries = new PartSummaries(range, store, signal)
  const leaves = new Leaves(range, store, summaries)
  const cut = await leaves.cutWithSummaries()
  const texts = cut && (await summaries.textsOf(leaves.topOf(cut.leaves)))
  if (cut === null || texts === null) return null
  const options = sourceOptions(range.summarizer)
  const openTokens = cut.open.reduce((sum, message) => sum + rawCost(message), 0)
  return {
    request: wholeRequest(texts, cut.open, summaryTokensMax(range.compaction.lane), options),
    // The messages of a leaf are longer than any summary, so they are not counted again.
    replacedTokens: texts.length > 0 ? 0 : openTokens,
  }
}

/**
 * Makes the summaries of the full leaves of a range that a compaction will cover, so that a slow model has the rest to do
 * once it is due. They are found again by the hash of their messages: what the compaction's summary is made of does not
 * depend on it.
 *
 * @returns whether one job was enough
 */
export async function prepareLeaves(range: CoveredRange, store: Store, signal: AbortSignal): Promise<boolean> {
  const leaves = new Leaves(range, store, new PartSummaries(range, store, signal))
  return (await leaves.cutWithSummaries()) !== null
}

interface Cut {
  readonly leaves: readonly LeafRow[]
  readonly open: readonly Message[]
}

/** Cuts a range into leaves; each is summarized before the next one is cut. */
class Leaves {
  constructor(
    private readonly range: CoveredRange,
    private readonly store: Store,
    private readonly summaries: PartSummaries,
  ) {}

  get #shape() {
    return this.range.compaction.lane.tree
  }

  topOf(leaves: readonly LeafRow[]): TreeNode[] {
    return topOfTree(
      leaves.map(({ hash }) => hash),
      this.#shape,
    )
  }

  /** The leaves of the whole range, each with its summary, and the messages that fill none yet. */
  async cutWithSummaries(): Promise<Cut | null> {
    const { series } = this.range
    const known = series === null ? [] : await this.#inProject((tx) => loadLeaves(tx, series))
    const cut = await this.#cutAfter(known)
    // Leaves may exist without summaries, if another summarizer wrote theirs.
    const missing = cut && (await this.summaries.missingLeaf(this.topOf(cut.leaves)))
    if (cut === null || missing === null) return cut
    const before = cut.leaves.findIndex(({ hash }) => hash === missing)
    return await this.#cutAfter(cut.leaves.slice(0, before))
  }

  /** Continues after the known leaves. */
  async #cutAfter(known: readonly LeafRow[]): Promise<Cut | null> {
    const leaves = [...known]
    let open: Message[] = []
    let after: Position | null = leaves.at(-1)?.end ?? null
    do {
      const page = await this.#page(after)
      open.push(...page.messages)
      let from = 0
      for (;;) {
        const length = leafLength(open, this.#shape, from)
        if (length === null) break
        const leaf = await this.#keepLeaf(open.slice(from, from + length), leaves.length)
        if (leaf === null) return null
        leaves.push(leaf)
        from += length
      }
      open = open.slice(from)
      after = page.next
    } while (after !== null)
    return { leaves, open }
  }

  async #page(after: Position | null) {
    const { compaction, state } = this.range
    const { threadId, clearedSeq } = compaction.thread
    const page = await this.#inProject((tx) =>
      loadCoveredAfter(tx, { threadId, clearedSeq, state, after, limit: PAGE_MESSAGES }),
    )
    return { ...page, messages: page.messages.filter((message) => ineligibleReason(message) === null) }
  }

  async #keepLeaf(messages: readonly Message[], place: number): Promise<LeafRow | null> {
    const hash = leafHash(messages, this.#shape)
    const last = messages.at(-1)
    if (!last) return null
    const replacedTokens = messages.reduce((sum, message) => sum + rawCost(message), 0)
    const known = await this.summaries.load([hash])
    const request = leafRequest(messages, this.#shape, sourceOptions(this.range.summarizer))
    if (!known.has(hash) && (await this.summaries.make(hash, request, replacedTokens)) === null) return null
    const leaf = { hash, end: positionOf(last) }
    const { stateId, compaction } = this.range
    const { threadId } = compaction.thread
    if (stateId !== null) await this.#inProject((tx) => recordLeaf(tx, { threadId, stateId, place, leaf }))
    return leaf
  }

  #inProject<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return this.store.inProject(this.range.projectId, work)
  }
}
