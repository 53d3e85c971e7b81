import type { Page } from '@heddle/client/interface'
import { type ListMessagesOptions, listMessagesSchema, type MessageEntry } from '@heddle/client/interface'
import { mergeSettings, notFound, parse } from '@heddle/contracts'
import { threadIdOf, windowBounds } from '@heddle/core'
import { listHistory, loadPins, loadThread } from '@heddle/store'
import { noCursor, numberAt } from '../setup/cursors.js'
import type { EngineContext } from '../setup/options.js'
import { toEntry } from './message-entry.js'

/**
 * A page of a thread's history in the order of the conversation: everything that was ever appended, even if clears and
 * rolling windows hide it from contexts (docs/windows.md). A page with large messages has fewer of them.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function listMessages(
  { store, projectId, settings, clock }: EngineContext,
  options: ListMessagesOptions,
): Promise<Page<MessageEntry>> {
  const { thread: name, limit, order, ...place } = parse(listMessagesSchema, options, 'history')
  const afterSeq = numberAt(place)
  const threadId = threadIdOf(projectId, name)
  const [thread, page, pins] = await store.inProject(projectId, (tx) =>
    Promise.all([
      loadThread(tx, { threadId }),
      listHistory(tx, { threadId, afterSeq, limit, order }),
      loadPins(tx, threadId),
    ]),
  )
  if (!thread) throw notFound('thread', name, 'see `heddle threads list`')
  if (!page) throw noCursor(String(afterSeq))
  const { rollingWindow } = mergeSettings(settings, thread.agentSettings, thread.settings)
  const bounds = windowBounds({ rollingWindow, ...thread, nowMs: clock.nowMs() })
  const last = page.messages.at(-1)
  return {
    items: page.messages.map((message) => {
      const pinned = pins.get(message.id) ?? message.pinned
      return toEntry({ ...message, pinned }, { thread: thread.name, agent: thread.agentName }, bounds)
    }),
    nextCursor: page.hasMore && last ? String(last.seq) : null,
  }
}
