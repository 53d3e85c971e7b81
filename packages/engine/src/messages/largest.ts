import {
  type LargestMessage,
  type LargestMessagesOptions,
  largestMessagesSchema,
  type Page,
} from '@heddle/client/interface'
import { notFound, parse } from '@heddle/contracts'
import { messageReference, threadIdOf } from '@heddle/core'
import { listLargest, loadThread, type Tx } from '@heddle/store'
import { type CursorList, cursorOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/** Tokens and number of the last message of the previous page. */
const WEIGHED_PLACE = /^(\d{1,10})_(\d{1,15})$/
const EXCERPT_CHARACTERS = 200

/**
 * The messages of a thread, or the results of one tool, the largest first.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function listLargestMessages(
  { store, projectId }: EngineContext,
  options: LargestMessagesOptions,
): Promise<Page<LargestMessage>> {
  const { thread, tool, limit, cursor } = parse(largestMessagesSchema, options, 'largest messages')
  const list: CursorList = { kind: 'largest', ownerId: `${projectId} ${thread}` }
  const [, tokens, seq] = placeAt(list, { cursor }, WEIGHED_PLACE) ?? []
  const after = tokens === undefined ? undefined : { tokens: Number(tokens), seq: Number(seq) }
  const threadId = threadIdOf(projectId, thread)
  const rows = await store.inProject(projectId, async (tx) => {
    await checkThread(tx, threadId, thread)
    return await listLargest(tx, { threadId, tool, after, limit: limit + 1, charactersMax: EXCERPT_CHARACTERS })
  })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(({ code, orderedAtMs, beginning, ...row }) => ({
      ...row,
      reference: messageReference(code),
      orderedAt: isoTime(orderedAtMs),
      excerpt: beginning,
    })),
    nextCursor: rows.length <= limit || last === undefined ? null : cursorOf(list, `${last.tokens}_${last.seq}`),
  }
}

/** @throws PermanentError `NOT_FOUND` */
export async function checkThread(tx: Tx, threadId: string, name: string): Promise<void> {
  if ((await loadThread(tx, { threadId })) === null) throw notFound('thread', name, 'see `heddle threads list`')
}
