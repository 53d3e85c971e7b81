import type { ResumeText } from '@heddle/contracts'
import { type Message, resumeText, threadIdOf } from '@heddle/core'
import { ERASED, listHistory, loadPins, loadThread, markPinned } from '@heddle/store'
import { LRUCache } from 'lru-cache'
import type { EngineContext } from '../setup/options.js'

/** The newest messages of a thread that its text is made from: more would take longer than a hook may wait. */
const MESSAGES_MAX = 4_000
const PAGE_MESSAGES = 1_000
/** Texts that are made before they are read, of 10,000 characters each. */
const TEXTS_MAX = 200

interface Prepared {
  /** The last message that the text was made from. */
  readonly headSeq: number
  readonly text: string
}

/**
 * The texts with which agents go on in threads, such as sessions after a compaction. One takes about 100 ms for some hundred
 * messages, so it may be made while the agent's model writes its own summary.
 */
export class ResumeTexts {
  readonly #prepared = new LRUCache<string, Promise<Prepared>>({ max: TEXTS_MAX })

  constructor(private readonly parts: EngineContext) {}

  /** Makes the text of a thread in the background. A failure only means that it is made when it is read. */
  prepare(thread: string): void {
    const preparing = this.#make(thread)
    this.#prepared.set(thread, preparing)
    preparing.catch((error: unknown) => {
      this.#prepared.delete(thread)
      this.parts.log?.debug({ error }, 'the text of a thread could not be prepared')
    })
  }

  /** The text of a thread as it is now; null if there is no such thread. */
  async read(thread: string): Promise<ResumeText | null> {
    const { store, projectId } = this.parts
    const threadId = threadIdOf(projectId, thread)
    const row = await store.inProject(projectId, (tx) => loadThread(tx, { threadId }))
    if (row === null) return null
    const prepared = await this.#prepared.get(thread)?.catch(() => null)
    this.#prepared.delete(thread)
    const { headSeq, text } = prepared?.headSeq === row.headSeq ? prepared : await this.#make(thread)
    return { thread: row.name, headSeq, text }
  }

  async #make(thread: string): Promise<Prepared> {
    const { store, projectId } = this.parts
    const threadId = threadIdOf(projectId, thread)
    const [row, pins] = await store.inProject(projectId, (tx) =>
      Promise.all([loadThread(tx, { threadId }), loadPins(tx, threadId)]),
    )
    const messages = await this.#newest(threadId)
    return { headSeq: row?.headSeq ?? 0, text: resumeText(markPinned(messages, pins)) }
  }

  /** In conversation order, without erased ones. */
  async #newest(threadId: string): Promise<Message[]> {
    const { store, projectId } = this.parts
    const pages: Message[][] = []
    let afterSeq: number | undefined
    for (let count = 0; count < MESSAGES_MAX; ) {
      const query = { threadId, afterSeq, limit: PAGE_MESSAGES, order: 'desc' } as const
      const page = await store.inProject(projectId, (tx) => listHistory(tx, query))
      if (page === null || page.messages.length === 0) break
      pages.unshift(page.messages.toReversed())
      count += page.messages.length
      afterSeq = page.messages.at(-1)?.seq
      if (!page.hasMore) break
    }
    return pages.flat().filter(({ keptAside }) => keptAside !== ERASED)
  }
}
