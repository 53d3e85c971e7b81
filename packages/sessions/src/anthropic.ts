import type { DraftMessage } from '@heddle/client/forms'
import { readAnthropicMessage, systemDraft } from '@heddle/client/forms'
import { type Conversation, readConversations } from './conversations.js'
import type { Reading, ReadingOptions } from './parsed.js'
import type { Source } from './source.js'

/** Requests and answers of Anthropic's Messages API. */
export function readAnthropic(source: Source, options: ReadingOptions): Reading {
  return readConversations(source, options, (conversation) => readMessages(conversation, options.skipped))
}

function* readMessages({ system, messages }: Conversation, skipped: Map<string, number>): Generator<DraftMessage> {
  if (system !== null) yield { place: system.place, input: systemDraft(system.place, system.content) }
  for (const record of messages) yield* readAnthropicMessage(record, skipped)
}
