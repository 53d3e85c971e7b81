import type { ToolRule } from '@heddle/contracts'
import type { Conversation } from '../conversation/conversation.js'
import type { Position } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'
import { actionOf } from '../extractive/calls.js'
import type { Pausable } from '../recall/steps.js'
import { toolCatalogOf } from '../tools/catalog.js'
import type { Ledger } from './artifact.js'
import { Book } from './book.js'

/** Calls read of one message. */
const CALLS_MAX = 100

/** The messages of a compaction that its predecessor had not seen. */
export interface LedgerRange {
  readonly conversation: Pick<Conversation, 'messages' | 'pairs'>
  /** Null for the first compaction. */
  readonly after: Position | null
  /** The last message that the ledger then stands for. */
  readonly to: Position
  readonly tools: readonly ToolRule[]
}

/**
 * The ledger with the calls of further messages that were answered. A call that nobody answered changes no file, nor does one
 * that failed, except for the commands before the failure. In time linear in the messages; names and outputs are redacted.
 */
export function* extendLedger(before: Ledger | null, range: LedgerRange): Pausable<Ledger> {
  const { conversation, after, to, tools } = range
  const catalog = toolCatalogOf(tools)
  const book = new Book(before)
  let code = before?.code ?? ''
  for (const message of conversation.messages) {
    if (after !== null && comparePositions(message, after) <= 0) continue
    if (comparePositions(message, to) > 0) break
    for (const call of message.toolCalls.slice(0, CALLS_MAX)) book.mention(actionOf(call, catalog), message.code)
    const pair = conversation.pairs.byResult.get(message.id)
    if (pair !== undefined) book.answer(actionOf(pair.call, catalog), pair.callMessage.code, message)
    code = message.code
    yield
  }
  return book.close(code)
}
