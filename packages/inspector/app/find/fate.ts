import type { MessageEntry, Receipt, ReceiptEntry } from '@heddle/contracts'

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
export function fateOf(line: ReceiptEntry): string {
  switch (line.mode) {
    case 'raw':
      return 'It is in this context, verbatim.'
    case 'covered':
      return `It is not in this context itself: a summary${rangeOf(line)} stands for it.`
    case 'left-out':
      return `It was left out: ${line.reason}.`
    case 'removed':
      return `It was removed from this context: ${line.reason}.`
    default:
      return `It is in this context in a shorter form, ${line.mode}.`
  }
}

function rangeOf({ fromSeq, toSeq }: ReceiptEntry): string {
  if (fromSeq === undefined || toSeq === undefined) return ''
  return fromSeq === toSeq ? ` of #${fromSeq}` : ` of #${fromSeq} to #${toSeq}`
}

/** Why a receipt does not account for a message, and whether a pin would bring it back. */
export interface Absence {
  readonly text: string
  readonly cause: 'later' | 'window' | 'kept-aside' | 'unknown'
}

interface Circumstances {
  readonly ineligible: Receipt['ineligible']
  /** When the context was requested; undefined if that is not known, or it is built now. */
  readonly requestedAt: string | undefined
}

export function absenceOf(
  message: Pick<MessageEntry, 'receivedAt' | 'inWindow' | 'keptAside'> | undefined,
  { ineligible, requestedAt }: Circumstances,
): Absence {
  if (message === undefined) return { cause: 'unknown', text: 'The receipt of this context does not name it.' }
  if (message.keptAside !== undefined)
    return { cause: 'kept-aside', text: `No context shows it: it was kept aside, as ${message.keptAside}.` }
  if (requestedAt !== undefined && message.receivedAt > requestedAt)
    return { cause: 'later', text: 'It was stored after this context was built: later ones may show it.' }
  if (!message.inWindow) return { cause: 'window', text: hiddenText(ineligible) }
  return { cause: 'unknown', text: 'The receipt of this context does not name it.' }
}

function hiddenText(ineligible: Receipt['ineligible']): string {
  const isOld = (ineligible['outside-window'] ?? 0) > 0
  const isCleared = (ineligible['before-clear'] ?? 0) > 0
  if (isOld && !isCleared) return 'It is not in this context: it is older than the rolling window.'
  if (isCleared && !isOld) return 'It is not in this context: it came before the last clear of the window.'
  return 'It is not in this context: it is older than the rolling window, or came before the last clear of it.'
}
