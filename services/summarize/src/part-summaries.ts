import { parentRequest, type SummaryRequest, type TreeNode } from '@heddle/core'
import { loadSummaryParts, recordSummaryPart, type Store } from '@heddle/store'
import { ask } from './ask.js'
import type { CoveredRange } from './covered-range.js'

/** Parts that one job summarizes; a longer range continues in the next job, from the stored parts. */
export const PART_CALLS_PER_JOB_MAX = 32

/** The summaries of a range's parts: stored ones, and those that this job creates. */
export class PartSummaries {
  #callsLeft = PART_CALLS_PER_JOB_MAX

  constructor(
    private readonly range: CoveredRange,
    private readonly store: Store,
    private readonly signal: AbortSignal,
  ) {}

  /** Stored summaries by hash. */
  load(hashes: readonly string[]): Promise<Map<string, string>> {
    return this.store.inProject(this.range.projectId, (tx) => loadSummaryParts(tx, { ...this.#owner, hashes }))
  }

  /** Summarizes a part and stores the summary; null if this job has reached its limit. */
  async make(hash: string, request: SummaryRequest, replacedTokens: number): Promise<string | null> {
    if (this.#callsLeft === 0) return null
    this.#callsLeft--
    const summary = await ask(this.range.summarizer, { request, replacedTokens }, this.signal)
    await this.store.inProject(this.range.projectId, (tx) => recordSummaryPart(tx, { ...this.#owner, hash, summary }))
    await this.range.summarizer.stored()
    return summary
  }

  /** The summaries of parts, in order; missing ones are created from the summaries of their own parts. */
  async textsOf(nodes: readonly TreeNode[]): Promise<string[] | null> {
    const known = await this.load(nodes.map(({ hash }) => hash))
    const texts: string[] = []
    for (const node of nodes) {
      const text = known.get(node.hash) ?? (await this.#makeParent(node))
      if (text === null) return null
      texts.push(text)
    }
    return texts
  }

  async #makeParent({ hash, children }: TreeNode): Promise<string | null> {
    if (children.length === 0) throw new Error('the summary of a leaf was removed under way')
    const texts = await this.textsOf(children)
    return texts === null ? null : await this.make(hash, parentRequest(texts, this.range.compaction.lane.tree), 0)
  }

  /** The oldest leaf whose summary is needed and missing. */
  async missingLeaf(nodes: readonly TreeNode[]): Promise<string | null> {
    const known = await this.load(nodes.map(({ hash }) => hash))
    for (const { hash, children } of nodes) {
      if (known.has(hash)) continue
      const missing = children.length === 0 ? hash : await this.missingLeaf(children)
      if (missing !== null) return missing
    }
    return null
  }

  get #owner() {
    const { threadId, headSeq, erasedCount } = this.range.compaction.thread
    return { threadId, headSeq, erasedCount, summarizer: this.range.summarizer.name }
  }
}
