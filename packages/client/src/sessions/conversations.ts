import { validationError } from '@heddle/contracts'
import { isJsonObject, type Json, type JsonObject } from './json.js'
import { recordsOf, type Source, type SourceRecord } from './source.js'

/** A list of messages, wherever in a file it stands, and the system prompt that Anthropic keeps beside it. */
export interface Conversation {
  suffix: string | null
  system: { place: string; content: Json } | null
  messages: SourceRecord[]
}

/**
 * The conversations of a file whose messages are lists: a list of messages, an object with `messages`, a list of such
 * objects, or of benchmark runs with `traj`, which are a conversation each; as one document or one object a line.
 */
export function conversationsOf(source: Source): Conversation[] {
  if (source.kind === 'lines') return conversationsOfRecords(source.records)
  const { value } = source
  if (Array.isArray(value)) return conversationsOfRecords(recordsOf(value, String))
  if (!isJsonObject(value)) throw validationError('file', 'must be a JSON object or list', value)
  const list = messagesOf(value)
  return [
    list === null
      ? { suffix: null, system: null, messages: [{ place: 'file', value }] }
      : conversation(value, list, null, ''),
  ]
}

/** Whether a record is a conversation in itself, and no message. */
export function messagesOf(record: JsonObject): { key: string; messages: Json[] } | null {
  for (const key of ['messages', 'traj']) {
    const messages = record[key]
    if (Array.isArray(messages)) return { key, messages }
  }
  return null
}

function conversationsOfRecords(records: readonly SourceRecord[]): Conversation[] {
  const lists = records.map(({ value }) => messagesOf(value))
  if (!lists.some((list) => list !== null)) return [{ suffix: null, system: null, messages: [...records] }]
  return records.map(({ place, value }, index) => {
    const list = lists[index] ?? null
    if (list === null) throw validationError(place, 'must hold a list of messages, as the other entries do', value)
    return conversation(value, list, String(index), place.startsWith('line') ? `${place}: ` : `${place}.`)
  })
}

function conversation(
  record: JsonObject,
  { key, messages }: { key: string; messages: Json[] },
  suffix: string | null,
  prefix: string,
): Conversation {
  const { system } = record
  return {
    suffix,
    system: system === undefined || system === null ? null : { place: `${prefix}system`, content: system },
    messages: recordsOf(messages, (index) => `${prefix}${key}.${index}`),
  }
}
