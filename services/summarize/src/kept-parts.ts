import type { FinishedParts } from '@heddle/models'
import { forgetSummaryParts, loadSummaryParts, type PartsOfThread, recordSummaryPart, type Store } from '@heddle/store'

/**
 * Stores the finished parts of a fold until the summary is stored: if a provider fails half way, the next attempt, in any
 * process, continues with the rest. Otherwise a long range could be retried for ever.
 */
export class KeptParts implements FinishedParts {
  readonly #owner: PartsOfThread

  constructor(
    private readonly store: Store,
    private readonly projectId: string,
    { threadId, summarizer, headSeq, erasedCount, of }: PartsOfThread & { of: string },
  ) {
    // A separate name: they are not parts of the tree, and are removed as soon as the summary exists.
    this.#owner = { threadId, headSeq, erasedCount, summarizer: `${summarizer}, unfinished ${of}` }
  }

  async load(hash: string): Promise<string | null> {
    const found = await this.store.inProject(this.projectId, (tx) =>
      loadSummaryParts(tx, { ...this.#owner, hashes: [hash] }),
    )
    return found.get(hash) ?? null
  }

  async keep(hash: string, summary: string): Promise<void> {
    await this.store.inProject(this.projectId, (tx) => recordSummaryPart(tx, { ...this.#owner, hash, summary }))
  }

  /** Also removes parts that an earlier attempt kept for a range that has grown since. */
  async forget(): Promise<void> {
    await this.store.inProject(this.projectId, (tx) => forgetSummaryParts(tx, this.#owner))
  }
}
