import type { ContextResult, DiffLine, EntryMode, ReceiptEntry, Standing } from '@heddle/contracts'

/** An entry of a receipt, with its position. */
export interface Placed extends Omit<DiffLine, 'before' | 'after'> {
  readonly standing: Standing
  readonly isShown: boolean
}

/**
 * The entries that a context shows or leaves out, by keys that are the same in other contexts; in the receipt's order.
 */
export interface Standings {
  readonly byKey: ReadonlyMap<string, Placed>
  /** The common status of eligible messages that the receipt counts without naming; null if they differ. */
  readonly unnamed: Standing | null
}

const notShown: readonly EntryMode[] = ['covered', 'removed', 'left-out']

export function standingsOf({ thread, receipt }: ContextResult): Standings {
  const byKey = new Map<string, Placed>()
  const unnamed: Standing[] = []
  for (const entry of receipt.entries) {
    const placed = place(entry)
    if (entry.fromSeq !== undefined) {
      for (const seq of range(entry.fromSeq, entry.toSeq)) {
        const what = `message ${entry.reference ?? seq}`
        byKey.set(`${entry.thread ?? thread} message ${seq}`, { ...placed, what, seq })
      }
    } else if (entry.fromIteration !== undefined) {
      for (const number of range(entry.fromIteration, entry.toIteration))
        byKey.set(`${thread} iteration ${number}`, { ...placed, what: `iteration ${number}` })
    } else if (entry.memory !== undefined) {
      const { reference, messageId } = entry.memory
      byKey.set(`memory ${messageId}`, { ...placed, what: `memory ${reference}` })
    } else if (entry.block !== undefined) {
      const { scope, label, version } = entry.block
      byKey.set(`${entry.section} ${scope} ${label}`, { ...placed, what: `block ${label}, version ${version}` })
    } else if (entry.ledger !== undefined) {
      const { kind, name } = entry.ledger
      byKey.set(`ledger ${kind} ${name}`, { ...placed, what: `${kind} ${name}` })
    } else if (entry.fact !== undefined) {
      const { id, subject, predicate } = entry.fact
      byKey.set(`${entry.section} ${id}`, { ...placed, what: `fact ${subject} ${predicate}` })
    } else if (entry.count > 0) unnamed.push(placed.standing)
    else byKey.set(freeKey(byKey, `${entry.section} ${entry.role ?? ''}`), { ...placed, what: entry.section })
  }
  // Messages outside the window are not named either, so with such messages the unnamed ones have no common status.
  const isWhole = receipt.eligible === receipt.imported
  return { byKey, unnamed: isWhole && unnamed.length === 1 ? (unnamed[0] ?? null) : null }
}

/** Numbers the parts of one section, so that their keys are distinct. */
function freeKey(taken: ReadonlyMap<string, unknown>, key: string): string {
  let free = `${key} 1`
  for (let place = 2; taken.has(free); place++) free = `${key} ${place}`
  return free
}

function place({ section, mode, tokens, reason, role, messageId }: ReceiptEntry): Omit<Placed, 'what'> {
  return {
    ...(role !== undefined && { role }),
    ...(messageId !== undefined && { messageId }),
    standing: { section, mode, tokens, reason },
    isShown: !notShown.includes(mode),
  }
}

function range(from: number, to = from): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
