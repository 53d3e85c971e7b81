/** The fields of a receipt's line that decide which delivered piece it belongs to. */
export interface Line {
  readonly mode: string
  readonly tokens: number
  readonly role?: string | undefined
  readonly item?: { readonly type: string } | undefined
  readonly ledger?: object | undefined
  readonly fact?: object | undefined
}

export interface Joined<Entry extends Line> {
  /** Position among the delivered messages; -1 for a system prompt that is sent separately, -2 for the tools before it. */
  readonly index: number
  readonly message: unknown
  readonly lines: readonly Entry[]
}

const UNSHOWN = new Set(['covered', 'left-out', 'removed'])

/** A line of the ledger or of the facts: it follows the line of the message that has it, and has no tokens of its own. */
export const isPartOfMessage = <Entry extends Line>({ mode, ledger, fact }: Entry) =>
  !UNSHOWN.has(mode) && (ledger !== undefined || fact !== undefined)

export const isShown = <Entry extends Line>({ mode, tokens }: Entry) => !UNSHOWN.has(mode) && tokens > 0

export interface DeliveredContext {
  readonly tools: readonly unknown[]
  readonly system: unknown
  readonly messages: readonly Delivered[]
}

interface Delivered {
  readonly role?: unknown
  readonly type?: unknown
  readonly content?: unknown
}

/**
 * The lines of a receipt beside the messages that they account for. Providers merge messages: results of one turn become
 * blocks of one message. Null if the counts do not match, and then both lists are shown separately.
 */
export function joinReceipt<Entry extends Line>(
  { tools, system, messages }: DeliveredContext,
  entries: readonly Entry[],
): Joined<Entry>[] | null {
  const isTool = ({ item }: Entry) => item?.type === 'tool'
  const ofTools = entries.filter((entry) => isShown(entry) && isTool(entry))
  const shown = entries.filter((entry) => isShown(entry) && !isTool(entry))
  const parts = partsOf(entries)
  const joined: Joined<Entry>[] = tools.length === 0 ? [] : [{ index: -2, message: { tools }, lines: ofTools }]
  let next = 0
  const take = (count: number) => {
    next += count
    return shown.slice(next - count, next).flatMap((entry) => [entry, ...(parts.get(entry) ?? [])])
  }
  if (system !== null && system !== undefined) {
    // Everything before the first message of the history is in the system prompt.
    const count = shown.findIndex(({ role }) => role !== 'system')
    joined.push({ index: -1, message: { role: 'system', content: system }, lines: take(Math.max(count, 0)) })
  }
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]
    // A reply of several items accounts for one stored message.
    const isContinued = message.type === 'function_call' && before !== undefined && isReply(before)
    const lines = take(isContinued ? 0 : piecesOf(message))
    if (lines.some((line) => !isPartOfMessage(line) && (line.role === 'assistant') !== isReply(message))) return null
    joined.push({ index, message, lines })
  }
  return next === shown.length ? joined : null
}

function partsOf<Entry extends Line>(entries: readonly Entry[]): ReadonlyMap<Entry, readonly Entry[]> {
  const parts = new Map<Entry, Entry[]>()
  let last: Entry | undefined
  for (const entry of entries) {
    if (!isPartOfMessage(entry)) last = entry
    else if (last !== undefined) parts.set(last, [...(parts.get(last) ?? []), entry])
  }
  return parts
}

const isReply = ({ role, type }: Delivered) => role === 'assistant' || type === 'function_call'

/** Stored messages in a delivered one. */
function piecesOf(message: Delivered): number {
  return !isReply(message) && Array.isArray(message.content) ? message.content.length : 1
}

/**
 * The position of the first piece that differs from the context before. A provider's cache compares tools, then the system prompt,
 * then the messages: null if these begin differently.
 */
export function sharedUpTo(before: DeliveredContext, after: DeliveredContext): number | null {
  const isSame = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right)
  if (!isSame(before.tools, after.tools) || !isSame(before.system, after.system)) return null
  const differing = after.messages.findIndex((message, index) => !isSame(message, before.messages[index]))
  return differing === -1 ? after.messages.length : differing
}
