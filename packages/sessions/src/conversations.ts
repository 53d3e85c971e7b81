import type { DraftMessage, SourceRecord } from '@heddle/client/forms'
import { isJsonObject, type Json } from '@heddle/client/forms'
import { validationError } from '@heddle/contracts'
import type { Entry } from './entry.js'
import type { Draft, Reading, ReadingOptions } from './parsed.js'
import type { Source } from './source.js'

/** A list of messages, anywhere in a file, and Anthropic's separate system prompt. */
export interface Conversation {
  system: { place: string; content: Json } | null
  messages: Iterable<SourceRecord>
}

/**
 * The conversations of a file whose messages are lists: a list of messages, an object with `messages`, a list of such
 * objects, or of benchmark runs with `traj`, each of which is a conversation; as one document or one object per line.
 *
 * @param holdsLists whether any entry of the file is a conversation; then all must be
 */
function* conversationsOf(source: Source, { holdsLists }: { holdsLists: boolean }): Generator<Conversation> {
  if (!holdsLists) return yield { system: null, messages: recordsOf(source) }
  for (const entry of source.entries()) {
    const { place, value } = entry
    const list = messagesOf(entry)
    if (!isJsonObject(value)) throw validationError(place, 'must be a JSON object', value)
    if (list === null) throw validationError(place, 'must hold a list of messages, as the other entries do', value)
    const { system } = value
    const hasSystem = system !== undefined && system !== null
    yield {
      system: hasSystem ? { place: `${entry.prefix}system`, content: system } : null,
      messages: recordsIn(list.messages, (at) => `${entry.prefix}${list.key}.${at}`),
    }
  }
}

/** Reads the conversations of a file in sequence; each is a thread. */
export function readConversations(
  source: Source,
  { holdsLists }: Pick<ReadingOptions, 'holdsLists'>,
  read: (conversation: Conversation) => Iterable<DraftMessage>,
): Reading {
  function* drafts(): Generator<Draft> {
    let thread = 0
    for (const conversation of conversationsOf(source, { holdsLists })) {
      for (const message of read(conversation)) yield { thread, message }
      thread++
    }
  }
  return { drafts: drafts(), suffixOf: (thread) => (holdsLists && source.kind !== 'object' ? String(thread) : null) }
}

/** Whether an entry is a conversation itself, not a message. */
export function messagesOf(entry: Pick<Entry, 'list'>): { key: string; messages: Iterable<Json> } | null {
  for (const key of ['messages', 'traj']) {
    const messages = entry.list(key)
    if (messages !== null) return { key, messages }
  }
  return null
}

/** The entries of a file as records. */
export function* recordsOf(source: Source): Generator<SourceRecord & Pick<Entry, 'span'>> {
  for (const { place, value, span } of source.entries()) {
    if (!isJsonObject(value)) {
      throw validationError(place, `must be a JSON object${source.kind === 'object' ? ' or list' : ''}`, value)
    }
    yield { place, value, span }
  }
}

export function* recordsIn(list: Iterable<Json>, placeOf: (index: number) => string): Generator<SourceRecord> {
  let index = 0
  for (const value of list) {
    const place = placeOf(index++)
    if (!isJsonObject(value)) throw validationError(place, 'must be a JSON object', value)
    yield { place, value }
  }
}
