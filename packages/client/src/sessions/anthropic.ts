import { validationError } from '@heddle/contracts'
import { readAssistant, readUser } from './anthropic-blocks.js'
import { blocksField, flattenContent, partsField } from './content.js'
import { type Conversation, readConversations } from './conversations.js'
import { isJsonObject, type Json, metadataField, otherFields, textField } from './json.js'
import type { DraftMessage, Reading, ReadingOptions } from './parsed.js'
import { countSkipped } from './parsed.js'
import type { Source, SourceRecord } from './source.js'

const KNOWN_FIELDS = new Set(['id', 'type', 'role', 'content', 'model', 'usage', 'stop_reason', 'stop_sequence'])

/** Requests and answers of Anthropic's Messages API. */
export function readAnthropic(source: Source, options: ReadingOptions): Reading {
  return readConversations(source, options, (conversation) => readMessages(conversation, options.skipped))
}

function* readMessages({ system, messages }: Conversation, skipped: Map<string, number>): Generator<DraftMessage> {
  if (system !== null) yield { place: system.place, input: systemDraft(system.place, system.content) }
  for (const record of messages) yield* readAnthropicMessage(record, skipped)
}

/** Requests and answers have one form: an answer names its id, its model and its usage besides. */
export function readAnthropicMessage({ place, value }: SourceRecord, skipped: Map<string, number>): DraftMessage[] {
  const { role, content, usage } = value
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw validationError(place, 'role must be user, assistant or system', role)
  }
  const id = textField(value, 'id')
  const model = textField(value, 'model')
  const others = otherFields(value, KNOWN_FIELDS)
  const parts =
    role === 'user'
      ? readUser(place, content)
      : [{ block: 0, input: role === 'assistant' ? readAssistant(place, content) : systemDraft(place, content) }]
  if (parts.length === 0) countSkipped(skipped, 'user/empty')
  return parts.map(({ block, input }) => {
    const identity = id === undefined || parts.length === 1 ? id : `${id}#${block}`
    return {
      place,
      ...(identity !== undefined && { identity }),
      input: {
        ...input,
        ...(identity !== undefined && { sourceId: identity }),
        ...(model !== undefined && { model }),
        ...(isJsonObject(usage) && { usage }),
        ...metadataField(input.metadata ?? {}, others),
      },
    }
  })
}

function systemDraft(place: string, content: Json | undefined): DraftMessage['input'] {
  const flat = flattenContent(place, content)
  return { role: 'system', content: flat.text, ...partsField(flat), ...metadataField(blocksField(flat)) }
}
