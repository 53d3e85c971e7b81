import type { JsonObject, SourceRecord } from '@heddle/client/forms'
import { countSkipped, type DraftMessage, type MessageDraft } from '@heddle/client/forms'
import { idSchema, validationError } from '@heddle/contracts'
import { readConversations } from './conversations.js'
import type { Reading, ReadingOptions } from './parsed.js'
import { Repeats } from './repeats.js'
import type { Source } from './source.js'

/**
 * Heddle's own format: a message as in the API, one per line. An `id` that is a UUID is the message's own; any other is
 * the source's, from which the message's is derived. A duplicate line counts once.
 */
export function readHeddle(source: Source, options: ReadingOptions): Reading {
  return readConversations(source, options, ({ messages }) => readMessages(messages, options.skipped))
}

function* readMessages(records: Iterable<SourceRecord>, skipped: Map<string, number>): Generator<DraftMessage> {
  const repeats = new Repeats()
  for (const { place, value } of records) {
    const { id, ...fields } = value
    if (id === undefined) {
      const sourceId = fields['sourceId']
      yield { place, ...(typeof sourceId === 'string' && { identity: sourceId }), input: draft(fields) }
      continue
    }
    if (typeof id !== 'string' || id === '') throw validationError(place, 'id must be a text', id)
    if (repeats.isRepeat(place, { field: 'id', name: id, content: JSON.stringify(fields) })) {
      countSkipped(skipped, 'message/repeated')
      continue
    }
    const uuid = idSchema.safeParse(id)
    if (uuid.success) yield { place, id: uuid.data, identity: uuid.data, input: draft(fields) }
    else yield { place, identity: id, input: { sourceId: id, ...draft(fields) } }
  }
}

/** The fields are as in the file; they are checked with every other message of the file. */
function draft(fields: JsonObject): MessageDraft {
  return fields as unknown as MessageDraft
}
