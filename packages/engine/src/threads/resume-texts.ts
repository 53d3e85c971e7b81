import type { ResumeText } from '@heddle/contracts'
import { type Message, positionOf, resumeTextInSteps, threadIdOf } from '@heddle/core'
import { Limiter, runCooperatively } from '@heddle/runtime'
import { ERASED, loadNewestMessages, loadPins, loadThread, markPinned, type ThreadRow, type Tx } from '@heddle/store'
import { LRUCache } from 'lru-cache'
import type { EngineContext } from '../setup/options.js'

/** The newest messages of a thread that its text is made from: more would take longer than a hook may wait. */
const MESSAGES_MAX = 4_000
const PAGE_MESSAGES = 1_000
/** Bytes of these messages: a few sessions with large outputs would fill the memory. */
const BYTES_MAX = 16_000_000
/** Texts that are made at once, each with its messages in memory. */
const AT_ONCE = 2
/**
 * Milliseconds of this work per iteration of the event loop. Agents wait for it, and a text of some hundred messages takes two or
 * three of them; one of thousands would delay others for hundreds of milliseconds.
 */
const TURN_MS = 20
/** Texts that are made before they are read, of 10,000 characters each. */
const TEXTS_MAX = 200

interface Prepared extends ResumeText {
  readonly basis: string
}

/** The row of a thread and the changes of its pins. */
interface Read {
  readonly row: ThreadRow
  readonly pins: ReadonlyMap<string, boolean>
}

/**
 * The texts with which agents go on in threads, such as sessions after a compaction. One takes some ten milliseconds for some
 * hundred messages, so it may be made while the agent's model writes its own summary.
 */
export class ResumeTexts {
  readonly #prepared = new LRUCache<string, Promise<Prepared | null>>({ max: TEXTS_MAX })
  readonly #making = new Limiter({ atOnce: AT_ONCE })

  constructor(private readonly parts: EngineContext) {}

  /**
   * Makes the text of a thread in the background. A failure only means that it is made when it is read.
   *
   * @param after the thread is read at once, but its text made after this has settled, which it would delay
   */
  prepare(thread: string, after: Promise<unknown>): void {
    const preparing = this.#make(thread, after)
    this.#prepared.set(thread, preparing)
    preparing.catch((error: unknown) => {
      this.#prepared.delete(thread)
      this.parts.log?.debug({ error }, 'the text of a thread could not be prepared')
    })
  }

  /** The text of a thread as it is now; null if there is no such thread. */
  async read(thread: string): Promise<ResumeText | null> {
    const preparing = this.#prepared.get(thread)
    this.#prepared.delete(thread)
    if (preparing === undefined) return withoutBasis(await this.#make(thread))
    const { store, projectId } = this.parts
    const threadId = threadIdOf(projectId, thread)
    const [now, prepared] = await Promise.all([
      store.inProject(projectId, (tx) => readThread(tx, threadId), { snapshot: true }),
      preparing.catch(() => null),
    ])
    const isCurrent = now !== null && prepared?.basis === basisOf(now)
    return withoutBasis(isCurrent ? prepared : await this.#make(thread))
  }

  async #make(thread: string, after?: Promise<unknown>): Promise<Prepared | null> {
    return await this.#making.run(() => this.#makeNow(thread, after))
  }

  /** Read in one snapshot, so that a text with the basis of later is that of later. */
  async #makeNow(thread: string, after?: Promise<unknown>): Promise<Prepared | null> {
    const { store, projectId } = this.parts
    const threadId = threadIdOf(projectId, thread)
    const work = async (tx: Tx) => {
      const read = await readThread(tx, threadId)
      return read === null ? null : { ...read, messages: await newestOf(tx, threadId) }
    }
    const found = await store.inProject(projectId, work, { snapshot: true })
    if (found === null) return null
    const { row, pins, messages } = found
    await after?.catch(() => {})
    const text = await runCooperatively(resumeTextInSteps(markPinned(messages, pins)), { turnMs: TURN_MS })
    return { thread: row.name, headSeq: row.headSeq, text, basis: basisOf(found) }
  }
}

/**
 * Of two equal ones the texts are equal: messages do not change, but are appended, erased and pinned, and a thread of the same name
 * may come after one that was erased.
 */
function basisOf({ row: { createdAtMs, headSeq, erasedCount }, pins }: Read): string {
  return JSON.stringify([createdAtMs, headSeq, erasedCount, [...pins]])
}

function withoutBasis(prepared: Prepared | null): ResumeText | null {
  return prepared && { thread: prepared.thread, headSeq: prepared.headSeq, text: prepared.text }
}

async function readThread(tx: Tx, threadId: string): Promise<Read | null> {
  const [row, pins] = await Promise.all([loadThread(tx, { threadId }), loadPins(tx, threadId)])
  return row && { row, pins }
}

/** In conversation order, without erased ones. */
async function newestOf(tx: Tx, threadId: string): Promise<Message[]> {
  const messages: Message[] = []
  let bytesLeft = BYTES_MAX
  for (let hasMore = true; hasMore && messages.length < MESSAGES_MAX && bytesLeft > 0; ) {
    const oldest = messages.at(-1)
    const before = oldest && positionOf(oldest)
    const page = await loadNewestMessages(tx, { threadId, before, limit: PAGE_MESSAGES, bytesMax: bytesLeft })
    messages.push(...page.messages)
    bytesLeft -= page.bytes
    hasMore = page.hasMore
  }
  return messages.reverse().filter(({ keptAside }) => keptAside !== ERASED)
}
