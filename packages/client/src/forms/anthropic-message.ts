import { validationError } from '@heddle/contracts'
import { readAssistant, readUser } from './anthropic-blocks.js'
import { blocksField, flattenContent, partsField } from './content.js'
import { isJsonObject, type Json, metadataField, otherFields, textField } from './json.js'
import { countSkipped, type DraftMessage, type SourceRecord } from './message-draft.js'

const KNOWN_FIELDS = new Set(['id', 'type', 'role', 'content', 'model', 'usage', 'stop_reason', 'stop_sequence'])

/** Requests and answers have the same form: an answer has an id, a model and usage in addition. */
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

export function systemDraft(place: string, content: Json | undefined): DraftMessage['input'] {
  const flat = flattenContent(place, content)
  return { role: 'system', content: flat.text, ...partsField(flat), ...metadataField(blocksField(flat)) }
}
