import { Availability, BUDGET_DEFAULT, clientOf, DEADLINE_MS_DEFAULT } from '@heddle/client/adapters'
import type {
  AgentInputItem,
  SessionHistoryRewriteArgs,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from '@openai/agents-core'
import { v7 } from 'uuid'
import { assembledItems } from './assembled.js'
import { codeOf, SessionLog } from './log.js'
import { type HeddleSessionOptions, PENDING_ITEMS_MAX } from './options.js'
import type { Operation } from './records.js'
import { copyItems, readTransaction, SessionError, sameItems } from './transaction.js'
import { newestWithin } from './within.js'

/** A change that is in memory and still has to be stored; a repeat stores it once. */
interface Change {
  readonly items: number
  readonly operation?: Operation
  store(): Promise<void>
}

const CONSEQUENCE = 'The session goes on in memory, and stores what was said when Heddle is back.'

/** Faults of a request: it would be refused again. */
const REFUSALS = new Set(['VALIDATION_ERROR', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'BUDGET_TOO_SMALL'])

/**
 * A session of the OpenAI Agents SDK: `getItems` returns the history within a budget of tokens, older parts condensed or
 * summarized, and everything is stored. While Heddle is away it goes on in memory.
 */
export class HeddleSession implements SessionHistoryTransactionAwareSession, SessionHistoryRewriteAwareSession {
  readonly sessionId: string
  readonly #log: SessionLog
  readonly #availability: Availability
  readonly #budget: number
  /** The history as the last context shows it, and what came since. */
  #view: AgentInputItem[] = []
  /** The newest items, without a gap. */
  #tail: AgentInputItem[] = []
  #tailIsWhole = false
  readonly #changes: Change[] = []
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: HeddleSessionOptions) {
    const { agent, budget = BUDGET_DEFAULT, deadlineMs = DEADLINE_MS_DEFAULT, sessionId = v7() } = options
    this.sessionId = sessionId
    this.#budget = budget
    this.#log = new SessionLog(clientOf(options), { agent, session: sessionId, budget, deadlineMs })
    this.#availability = new Availability(options, CONSEQUENCE)
  }

  async getSessionId(): Promise<string> {
    return this.sessionId
  }

  /** Without a limit: the history within the budget. With one: the newest items as they were given. */
  getItems(limit?: number): Promise<AgentInputItem[]> {
    return this.#inTurn(async () => {
      if (limit !== undefined && limit <= 0) return []
      await this.#attempt(() => (limit === undefined ? this.#assemble() : this.#loadTail(limit)))
      if (limit !== undefined) return structuredClone(this.#tail.slice(-limit))
      return structuredClone(this.#changes.length === 0 ? this.#view : newestWithin(this.#view, this.#budget))
    })
  }

  addItems(items: AgentInputItem[]): Promise<void> {
    return this.#inTurn(async () => {
      if (items.length === 0) return
      await this.#append(copyItems(items))
    })
  }

  /** Removes the newest item from the history; it stays in the thread that had it. */
  popItem(): Promise<AgentInputItem | undefined> {
    return this.#inTurn(async () => {
      if (this.#tail.length === 0 && !this.#tailIsWhole) await this.#attempt(() => this.#loadTail(1))
      const item = this.#tail.pop()
      if (item === undefined) return undefined
      const shown = this.#view.lastIndexOf(item)
      if (shown >= 0) this.#view.splice(shown, 1)
      const base = v7()
      await this.#change({ items: 1, store: () => this.#log.undo(base) })
      return structuredClone(item)
    })
  }

  /** Begins an empty history; the one before stays stored until its threads are erased. */
  clearSession(): Promise<void> {
    return this.#inTurn(async () => {
      const base = v7()
      this.#show([])
      await this.#change({ items: 0, store: () => this.#log.replace([], base, { isClear: true }) })
    })
  }

  replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    return this.#inTurn(() => this.#replace(copyItems(items)))
  }

  applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    return this.#inTurn(async () => {
      if (mutations.length === 0) return
      const items = await this.#allItems()
      for (const { callId, replacement } of mutations) replaceCall(items, callId, replacement)
      await this.#replace(copyItems(items))
    })
  }

  /** Atomic, and once for each `operationId`. */
  applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    return this.#inTurn(async () => {
      const { operation, transaction } = readTransaction(args)
      const waiting = this.#changes.find((change) => change.operation?.id === operation.id)?.operation
      const earlier = waiting ?? (await this.#attempt(() => this.#log.applied(operation.id)))?.value
      if (isRepeat(earlier, operation)) return
      if (transaction.type === 'append_items') return await this.#append([...transaction.items], operation)
      const { expectedSuffix, replacement } = transaction
      if (expectedSuffix.length === 0) return await this.#append([...replacement], operation)
      const items = await this.#allItems()
      const kept = items.length - expectedSuffix.length
      if (kept < 0 || !sameItems(items.slice(kept), expectedSuffix)) {
        throw new SessionError('transaction.expectedSuffix: must be the end of the history')
      }
      await this.#replace([...items.slice(0, kept), ...replacement], operation)
    })
  }

  /**
   * Stores what is only in memory, for the end of a process.
   *
   * @returns whether everything is stored
   */
  flush(): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#changes.length > 0) await this.#attempt(() => this.#store(), { isLast: true })
      return this.#changes.length === 0
    })
  }

  async #append(items: AgentInputItem[], operation?: Operation): Promise<void> {
    this.#view.push(...items)
    this.#tail.push(...items)
    const base = v7()
    await this.#once(items.length, () => this.#log.append(items, base, operation), operation)
  }

  async #replace(items: AgentInputItem[], operation?: Operation): Promise<void> {
    const base = v7()
    const named = operation === undefined ? {} : { operation }
    this.#show(items)
    await this.#once(items.length, () => this.#log.replace(items, base, named), operation)
  }

  /** A transaction may have been applied meanwhile: by another process, or by a request whose answer was lost. */
  async #once(items: number, store: () => Promise<void>, operation: Operation | undefined): Promise<void> {
    if (operation === undefined) return await this.#change({ items, store })
    const storeOnce = async () => {
      if (!isRepeat(await this.#log.applied(operation.id), operation)) await store()
    }
    await this.#change({ items, store: storeOnce, operation })
  }

  #show(items: readonly AgentInputItem[]): void {
    this.#view = [...items]
    this.#tail = [...items]
    this.#tailIsWhole = true
  }

  /** @throws SessionError if only a part of the history is in memory while Heddle is away */
  async #allItems(): Promise<AgentInputItem[]> {
    const stored = await this.#attempt(async () => {
      await this.#store()
      return await this.#log.all()
    })
    if (stored !== null) return stored.value
    if (this.#tailIsWhole) return [...this.#tail]
    throw new SessionError('Heddle is away, and a history that is not in memory cannot be changed. Try again later.')
  }

  /** Keeps a change, and stores it with those before it; later, while Heddle is away. */
  async #change(change: Change): Promise<void> {
    const waiting = this.#changes.reduce((sum, { items }) => sum + items, 0)
    if (waiting + change.items > PENDING_ITEMS_MAX) {
      throw new SessionError(`Heddle is away, and at most ${PENDING_ITEMS_MAX} items are kept for it in memory.`)
    }
    this.#changes.push(change)
    await this.#attempt(() => this.#store())
  }

  async #store(): Promise<void> {
    try {
      for (let [change] = this.#changes; change !== undefined; [change] = this.#changes) {
        await change.store()
        this.#changes.shift()
      }
    } catch (error) {
      if (isRefusal(error)) this.#forget()
      throw error
    }
  }

  /** The items in memory include those of a change that was refused. */
  #forget(): void {
    this.#changes.shift()
    this.#view = []
    this.#tail = []
    this.#tailIsWhole = false
  }

  async #assemble(): Promise<void> {
    await this.#store()
    await this.#log.locate()
    await this.#log.settle(v7())
    const built = await this.#log.build()
    if (built === null) return this.#show([])
    const { verbatim, isWhole } = built
    if (isWhole) return this.#show(verbatim.flatMap(({ stored }) => stored.items))
    const exact = verbatim.map(({ stored }) => stored)
    this.#view = assembledItems(built.messages, { verbatim: exact, known: built.known })
    let first = verbatim.length - 1
    while (first > 0 && verbatim[first - 1]?.seq === (verbatim[first]?.seq ?? 0) - 1) first--
    this.#tail = exact.slice(Math.max(0, first)).flatMap(({ items }) => items)
    this.#tailIsWhole = false
  }

  async #loadTail(count: number): Promise<void> {
    await this.#store()
    await this.#log.locate()
    const { items, isWhole } = await this.#log.tail(count)
    this.#tail = [...items]
    this.#tailIsWhole = isWhole
  }

  /** The result of the work, or null while Heddle is away. */
  async #attempt<Result>(
    work: () => Promise<Result>,
    options: { readonly isLast?: boolean } = {},
  ): Promise<{ readonly value: Result } | null> {
    const outcome = await this.#availability.attempt(async () => {
      try {
        return { value: await work() }
      } catch (error) {
        if (isRefusal(error)) return { refused: error }
        throw error
      }
    }, options)
    if (outcome !== null && 'refused' in outcome) throw outcome.refused
    return outcome
  }

  /** The framework may call while another call runs: changes are made in the order of the calls. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/** @throws SessionError for the same id with another transaction */
function isRepeat(earlier: Operation | null | undefined, operation: Operation): boolean {
  if (earlier === undefined || earlier === null) return false
  if (earlier.hash === operation.hash) return true
  throw new SessionError(`operationId: ${operation.id} was applied with another transaction`)
}

function isRefusal(error: unknown): boolean {
  return error instanceof SessionError || REFUSALS.has(String(codeOf(error)))
}

/** The first call of this id is replaced, and later ones are removed. */
function replaceCall(items: AgentInputItem[], callId: string, replacement: AgentInputItem): void {
  let isReplaced = false
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    if (item?.type !== 'function_call' || item.callId !== callId) continue
    if (isReplaced) items.splice(index--, 1)
    else items[index] = replacement
    isReplaced = true
  }
}
