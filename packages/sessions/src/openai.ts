import type { DraftMessage, SourceRecord } from '@heddle/client/forms'
import { readOpenAiMessage } from '@heddle/client/forms'
import { readConversations } from './conversations.js'
import type { Reading, ReadingOptions } from './parsed.js'
import type { Source } from './source.js'

/** Messages of OpenAI's chat completions. Call ids are unchanged, even if a conversation uses one twice. */
export function readOpenAi(source: Source, options: ReadingOptions): Reading {
  return readConversations(source, options, ({ messages }) => readMessages(messages))
}

function* readMessages(records: Iterable<SourceRecord>): Generator<DraftMessage> {
  const legacyCallIds = new Map<string, string>()
  let index = 0
  for (const record of records) yield readOpenAiMessage(record, index++, legacyCallIds)
}
