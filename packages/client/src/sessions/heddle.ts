import { idSchema, validationError } from '@heddle/contracts'
import { conversationsOf } from './conversations.js'
import type { JsonObject } from './json.js'
import { countSkipped, type DraftMessage, type Drafts, type MessageDraft } from './parsed.js'
import type { Source, SourceRecord } from './source.js'

/**
 * Heddle's own format: a message as the API takes it, one a line. An `id` that is a UUID is the message's own; any other
 * is the source's, from which the message's is derived. A line that is there twice counts once.
 */
export function readHeddle(source: Source): Drafts {
  const skipped = new Map<string, number>()
  const threads = conversationsOf(source).map(({ suffix, messages }) => {
    const seen = new Map<string, { place: string; json: string }>()
    return { suffix, messages: messages.flatMap((record) => readMessage(record, seen, skipped)) }
  })
  return { threads, skipped }
}

function readMessage(
  { place, value }: SourceRecord,
  seen: Map<string, { place: string; json: string }>,
  skipped: Map<string, number>,
): DraftMessage[] {
  const { id, ...fields } = value
  if (id === undefined) {
    const sourceId = fields['sourceId']
    return [{ place, ...(typeof sourceId === 'string' && { identity: sourceId }), input: draft(fields) }]
  }
  if (typeof id !== 'string' || id === '') throw validationError(place, 'id must be a text', id)
  const json = JSON.stringify(fields)
  const earlier = seen.get(id)
  if (earlier !== undefined) {
    if (earlier.json !== json) throw validationError(place, `id was given to another message at ${earlier.place}`, id)
    countSkipped(skipped, 'message/repeated')
    return []
  }
  seen.set(id, { place, json })
  const uuid = idSchema.safeParse(id)
  if (uuid.success) return [{ place, id: uuid.data, identity: uuid.data, input: draft(fields) }]
  return [{ place, identity: id, input: { sourceId: id, ...draft(fields) } }]
}

/** The fields are as the file gives them; they are checked with every other message of the file. */
function draft(fields: JsonObject): MessageDraft {
  return fields as unknown as MessageDraft
}
