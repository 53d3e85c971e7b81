import type { SummaryPurpose } from '@heddle/contracts'
import type { FinishedParts } from '@heddle/models'
import { forgetSummaryParts, loadSummaryParts, type PartsOfThread, recordSummaryPart, type Store } from '@heddle/store'

/**
 * The parts of a fold that are done, kept in the store until the summary is: where a provider fails half way, the next try,
 * in whatever process, goes on with the rest. Else a long range could be tried for ever and never be done.
 */
export class KeptParts implements FinishedParts {
  readonly #owner: PartsOfThread

  constructor(
    private readonly store: Store,
    private readonly projectId: string,
    { threadId, summarizer, headSeq, purpose }: PartsOfThread & { purpose: SummaryPurpose },
  ) {
    // A name of their own: they are no parts of the tree, and go as soon as a summary is there.
    this.#owner = { threadId, headSeq, summarizer: `${summarizer}, unfinished ${purpose}` }
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

  /** Also what an earlier try kept of a range that has grown since. */
  async forget(): Promise<void> {
    await this.store.inProject(this.projectId, (tx) => forgetSummaryParts(tx, this.#owner))
  }
}
