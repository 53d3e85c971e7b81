import type { HashTable } from '../hash-table.js'

/** A message of a call, as far as its occurrences depend on it. */
export interface Said {
  /** Of its contents. */
  readonly hash: string
  readonly isReply: boolean
  /** Repeated in each call as it is, or known by an id of its own: instructions and results of tools. */
  readonly isOnce: boolean
  readonly isAssistant: boolean
}

/**
 * The messages of one thread that its calls had so far, to find in the next call those that are new. A call either repeats the
 * conversation: then a message is new if it occurs more often than in any call before. Or it has the newest messages alone,
 * without a reply of the model among them: then all are new, once the thread was seen to go on in that way. A call that repeats
 * one that had no reply is another attempt.
 */
export class Occurrences {
  /** Its number in the file. */
  readonly thread: number
  readonly #counts: HashTable
  #isFirst = true
  #hasNewestAlone = false
  #unanswered: string | null = null

  /** @param counts of all threads of a file */
  constructor(counts: HashTable, thread: number) {
    this.#counts = counts
    this.thread = thread
  }

  /** @returns for each message its number among equal ones of the thread; null if an earlier call had it */
  next(call: readonly Said[]): (number | null)[] {
    const isNewestAlone = this.#isNewestAlone(call)
    const inCall = new Map<string, number>()
    return call.map(({ hash, isOnce }) => {
      const known = this.#counts.get(`${this.thread} ${hash}`) ?? 0
      const count = (inCall.get(hash) ?? 0) + 1
      inCall.set(hash, count)
      const number = isNewestAlone && !isOnce ? known + 1 : count
      if (number <= known) return null
      this.#counts.set(`${this.thread} ${hash}`, number)
      return number
    })
  }

  #isNewestAlone(call: readonly Said[]): boolean {
    const given = call.filter(({ isReply }) => !isReply)
    const key = given.map(({ hash }) => hash).join(' ')
    const isAnotherAttempt = key === this.#unanswered
    this.#unanswered = given.length === call.length ? key : null
    const isFirst = this.#isFirst
    this.#isFirst = false
    if (isFirst || isAnotherAttempt || given.some(({ isAssistant }) => isAssistant)) return false
    const said = given.filter(({ isOnce }) => !isOnce)
    this.#hasNewestAlone ||= said.some(({ hash }) => !this.#counts.has(`${this.thread} ${hash}`))
    return this.#hasNewestAlone
  }
}
