import type { Receipt, ReceiptEntry } from '@heddle/contracts'

interface Sought {
  readonly messageId: string
  readonly seq: number
  readonly thread: string
}

interface Accounted {
  readonly thread: string
  readonly receipt: Pick<Receipt, 'entries' | 'eligible' | 'imported'>
}

/**
 * The line of a receipt that accounts for a message: its own, else that of the range that it is in, else the one line of
 * messages that the receipt counts without naming.
 */
export function lineOf(
  { messageId, seq, thread }: Sought,
  { thread: own, receipt }: Accounted,
): ReceiptEntry | undefined {
  const ofThread = receipt.entries.filter((entry) => (entry.thread ?? own) === thread && entry.count > 0)
  return (
    receipt.entries.find((entry) => entry.messageId === messageId) ??
    ofThread.find(({ fromSeq = Infinity, toSeq = -1 }) => fromSeq <= seq && seq <= toSeq) ??
    unnamedLine(seq, ofThread, receipt)
  )
}

/** A message is among the unnamed ones for certain only if every message is eligible, and a later one is named. */
function unnamedLine(
  seq: number,
  ofThread: readonly ReceiptEntry[],
  { eligible, imported }: Accounted['receipt'],
): ReceiptEntry | undefined {
  const unnamed = ofThread.filter(({ fromSeq, fromIteration }) => fromSeq === undefined && fromIteration === undefined)
  const isEarlier = ofThread.some(({ toSeq = -1 }) => seq < toSeq)
  return eligible === imported && isEarlier && unnamed.length === 1 ? unnamed[0] : undefined
}

/** The fate of a message in a context, in a sentence. */
export function fateOf(line: ReceiptEntry | undefined): string {
  if (line === undefined) return 'It is not in the receipt: it came later, or it was never eligible.'
  switch (line.mode) {
    case 'raw':
      return 'It is in this context, verbatim.'
    case 'covered':
      return 'It is not in this context itself: a summary stands for it.'
    case 'left-out':
      return `It was left out: ${line.reason}.`
    case 'removed':
      return `It was removed from this context: ${line.reason}.`
    default:
      return `It is in this context in a shorter form, ${line.mode}.`
  }
}
