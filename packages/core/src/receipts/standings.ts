import type { ContextResult, DiffLine, EntryMode, ReceiptEntry, Standing } from '@heddle/contracts'

/** Something that a receipt tells of, where it stands there. */
export interface Placed extends Omit<DiffLine, 'before' | 'after'> {
  readonly standing: Standing
  readonly isShown: boolean
}

/** What a context shows and what it leaves out, by keys that are the same in other contexts; in the receipt's order. */
export interface Standings {
  readonly byKey: ReadonlyMap<string, Placed>
  /** What holds of the eligible messages that the receipt counts without naming them; null where that is not one thing. */
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
    } else if (entry.count > 0) unnamed.push(placed.standing)
    else byKey.set(freeKey(byKey, `${entry.section} ${entry.role ?? ''}`), { ...placed, what: entry.section })
  }
  // What is out of the window is not told by name either, so where there is any, nothing holds of all that has no name.
  const isWhole = receipt.eligible === receipt.imported
  return { byKey, unnamed: isWhole && unnamed.length === 1 ? (unnamed[0] ?? null) : null }
}

/** Parts of one section are told apart by their order. */
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
