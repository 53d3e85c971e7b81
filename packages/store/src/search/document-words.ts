import { mergeSettings, type PartialSettings, type ToolCall } from '@heddle/contracts'
import { type Pausable, searchDocument, toolCatalogOf } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { HistoryMessage } from '../messages/history.js'
import { loadCalls } from '../messages/messages.js'
import type { ThreadRow } from '../threads/threads.js'
import type { IndexedMessage } from './postings.js'

/** Messages before a result that are searched for its call; parallel calls are answered within a few. */
const CALL_DISTANCE_MAX = 100

/** Loads the calls of the tool results in `messages`, if they were made shortly before. */
export async function loadCallsOf(
  tx: Tx,
  threadId: string,
  messages: readonly HistoryMessage[],
): Promise<ReadonlyMap<string, ToolCall>> {
  const made = new Map(messages.flatMap(({ toolCalls }) => toolCalls.map((call) => [call.id, call] as const)))
  const isOpen = messages.some(({ toolCallId }) => toolCallId !== null && !made.has(toolCallId))
  const [first] = messages
  if (!isOpen || first === undefined || first.seq === 1) return made
  const range = { threadId, fromSeq: Math.max(1, first.seq - CALL_DISTANCE_MAX), toSeq: first.seq - 1 }
  return new Map([...(await loadCalls(tx, range)), ...made])
}

/** Words by which messages are found, with a pause after each message. */
export function* wordsOf(
  messages: readonly HistoryMessage[],
  {
    calls,
    thread,
    settings,
  }: {
    calls: ReadonlyMap<string, ToolCall>
    thread: Pick<ThreadRow, 'agentSettings' | 'settings'>
    settings: PartialSettings
  },
): Pausable<IndexedMessage[]> {
  const catalog = toolCatalogOf(mergeSettings(settings, thread.agentSettings, thread.settings).tools)
  const words: IndexedMessage[] = []
  for (const message of messages) {
    const call = message.toolCallId === null ? null : (calls.get(message.toolCallId) ?? null)
    words.push({ seq: message.seq, ...searchDocument(message, { call, catalog }) })
    yield
  }
  return words
}
