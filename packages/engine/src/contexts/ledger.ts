import type { LedgerOptions } from '@heddle/client/interface'
import { type Ledger, ledgerQuerySchema, nameSchema, notFound, parse } from '@heddle/contracts'
import {
  type CompactionState,
  ledgerLines,
  ledgerReference,
  type Position,
  positionOf,
  referenceIn,
  threadIdOf,
} from '@heddle/core'
import { loadLastMessage, loadMessage, loadThread } from '@heddle/store'
import { type CursorList, cursorOf, noCursor, placeAt } from '../setup/cursors.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'
import { collectAtoms } from './collect-atoms.js'

/** Before every message that a client can send. */
const BEGINNING = { orderedAtMs: 0, ordinal: 0, id: '00000000-0000-0000-0000-000000000000' }

/** A state that covers a conversation up to a message, of which the ledger is made. */
export function stateUpTo(to: Position, headSeq: number): CompactionState {
  const covered = { from: BEGINNING, to }
  return { point: to, headSeq, topIds: [], covered, summary: null, summaryTokens: 0, prunings: new Map() }
}

/** The position in a ledger: the message that it ends with, the numbers of messages and of the last clear, and a line. */
const PLACE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) (\d{1,15}) (\d{1,15}) ([1-9]\d{0,8})$/

/**
 * The ledger of a thread, page by page. Pages after the first are of the same messages, so that lines keep their numbers.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown thread; `VALIDATION_ERROR`
 */
export async function ledgerOf(
  parts: EngineContext,
  given: string,
  { kind: wanted, limit = 100, ...page }: LedgerOptions = {},
): Promise<Ledger> {
  const { store, projectId } = parts
  checkPageLimit(limit)
  const kind = parse(ledgerQuerySchema.shape.kind, wanted, 'kind')
  const name = parse(nameSchema, given, 'thread')
  const threadId = threadIdOf(projectId, name)
  const list: CursorList = { kind: 'ledger', ownerId: threadId }
  const [cursor, id, head, cleared, after = '0'] = placeAt(list, page, PLACE) ?? []
  const { thread, last } = await store.inProject(projectId, async (tx) => {
    const found = await loadThread(tx, { threadId })
    if (found === null) throw notFound('thread', name, 'see `heddle threads list`')
    const message = id === undefined ? null : await loadMessage(tx, { threadId, id })
    const named = message && { ...positionOf(message), code: message.code }
    return { thread: found, last: id === undefined ? await loadLastMessage(tx, { threadId }) : named }
  })
  const { headSeq, clearedSeq } = thread
  // Its message was erased, or the agent was cleared: other lines have the numbers.
  if (cursor !== undefined && (last === null || cleared !== `${clearedSeq}`)) throw noCursor(cursor)
  if (last === null) return { thread: name, ref: null, messagesRead: 0, isComplete: true, items: [], nextCursor: null }
  const { atoms, messagesRead, isWhole } = await collectAtoms(parts, thread, stateUpTo(last, Number(head ?? headSeq)))
  const lines = ledgerLines(atoms).filter(
    (one) => one.line > Number(after) && (kind === undefined || one.kind === kind),
  )
  const items = lines.slice(0, limit)
  const end = lines.length > limit ? items.at(-1) : undefined
  return {
    thread: name,
    ref: ledgerReference(referenceIn(name, last.code)),
    messagesRead,
    isComplete: isWhole && atoms.isComplete,
    items,
    nextCursor: end === undefined ? null : cursorOf(list, `${last.id} ${head ?? headSeq} ${clearedSeq} ${end.line}`),
  }
}
