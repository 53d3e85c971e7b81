/** A message that was acknowledged as stored. */
export interface LedgerEntry {
  readonly id: string
  /** Its position within its thread, from 0. */
  readonly index: number
  readonly sha256: string
}

/** A message as it was read back. */
export interface StoredEntry {
  readonly id: string
  readonly seq: number
  readonly sha256: string
}

/** The differences between acknowledged and stored messages. Each is 0 without damage. */
export interface Damage {
  /** Messages that are missing, or have another content. */
  readonly lost: number
  /** Messages that are stored more than once, or were never acknowledged. */
  readonly duplicated: number
  /** Messages that precede one that was sent before them. */
  readonly disordered: number
  /** Sequence numbers from 1 to the head that are missing or duplicate, or lie beyond the head. */
  readonly gaps: number
}

export const noDamage: Damage = { lost: 0, duplicated: 0, disordered: 0, gaps: 0 }

/** The messages acknowledged as stored, by thread. */
export class Ledger {
  readonly #threads = new Map<string, LedgerEntry[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(thread: string, entries: readonly LedgerEntry[]): void {
    const known = this.#threads.get(thread) ?? []
    known.push(...entries)
    this.#threads.set(thread, known)
    this.#size += entries.length
  }

  threads(): Iterable<[thread: string, entries: readonly LedgerEntry[]]> {
    return this.#threads
  }
}

/** Compares one thread's ledger with its stored messages, in the order of the conversation. */
export function assess(
  acknowledged: readonly LedgerEntry[],
  conversation: readonly StoredEntry[],
  headSeq: number,
): Damage {
  const byId = new Map(acknowledged.map((entry) => [entry.id, entry]))
  const intact = new Set<string>()
  let disordered = 0
  let latest = -1
  for (const { id, sha256 } of conversation) {
    const entry = byId.get(id)
    if (entry?.sha256 === sha256) intact.add(id)
    if (entry === undefined) continue
    if (entry.index < latest) disordered++
    latest = Math.max(latest, entry.index)
  }
  const numbers = new Set(conversation.map(({ seq }) => seq).filter((seq) => seq >= 1 && seq <= headSeq))
  const known = new Set(conversation.map(({ id }) => id).filter((id) => byId.has(id)))
  return {
    lost: acknowledged.length - intact.size,
    duplicated: conversation.length - known.size,
    disordered,
    gaps: headSeq - numbers.size + (conversation.length - numbers.size),
  }
}

export function addDamage(left: Damage, right: Damage): Damage {
  return {
    lost: left.lost + right.lost,
    duplicated: left.duplicated + right.duplicated,
    disordered: left.disordered + right.disordered,
    gaps: left.gaps + right.gaps,
  }
}
