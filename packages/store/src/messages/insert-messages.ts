import { PermanentError } from '@heddle/contracts'
import { CODE_CHARACTERS, shortCode } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import { formatTime } from '../connection/times.js'
import { asArray, asQuotedArray, type Spellable } from '../sql/arrays.js'
import { contentElement } from '../sql/content-element.js'
import { byKey } from '../sql/index-order.js'
import type { PlannedMessage } from './append-plan.js'

export interface NewMessages {
  readonly receivedAtMs: number
  /** Whether a taken short code is a unique violation; else its message gets a longer one. */
  readonly assumeFreeCodes?: boolean
}

/** In a thread of a million messages, two short codes of 8 characters collide with a probability of a half; of 24, never. */
const CODE_CHARACTERS_MAX = 24

/**
 * Inserts messages of any number of threads with one statement: one array for each column, which Postgres
 * reads in half the time of a list of JSON objects.
 */
export async function insertMessages(
  tx: Tx,
  messages: readonly PlannedMessage[],
  { receivedAtMs, assumeFreeCodes = false }: NewMessages,
  codeCharacters: number = CODE_CHARACTERS,
): Promise<void> {
  const contents = messages.map(({ message }) => {
    if (message.contentElement) return { value: message.contentElement, isEscaped: message.contentElement.isEscaped }
    return contentElement(message.input.content)
  })
  const quoted = (read: (planned: PlannedMessage) => Spellable) => asQuotedArray(messages.map(read))
  const plain = (read: (planned: PlannedMessage) => string | number) => asArray(messages.map(read))
  // JSON columns are sent as text, so that they are stored unchanged. A column without any value is sent as an empty array,
  // which Postgres fills with nulls.
  const { count } = await tx`
    insert into heddle.messages (
      thread_id, seq, id, code, role, content, content_escaped, parts, thinking, tool_calls, tool_call_id, tool_name,
      is_error, sent_at, ordered_at, ordinal, latest_at, received_at, source_id, model, usage, context_id, pinned, kept_aside,
      metadata, tokens_estimate, fingerprint, restores_seq)
    select
      thread_id, seq, id, code, role, content, coalesce(content_escaped, false), parts::json, thinking::json, tool_calls::json,
      tool_call_id, tool_name, coalesce(is_error, false), sent_at, ordered_at, ordinal, latest_at, ${receivedAtMs},
      source_id, model, usage::json, context_id, coalesce(pinned, false), kept_aside, metadata::json, tokens_estimate,
      decode(fingerprint, 'hex'), restores_seq
    from unnest(
      ${plain(({ threadId }) => threadId)}::uuid[],
      ${plain(({ seq }) => seq)}::bigint[],
      ${plain(({ message }) => message.input.id)}::uuid[],
      ${plain(({ message }) => shortCode(message.input.id, codeCharacters))}::text[],
      ${plain(({ message }) => message.input.role)}::text[],
      ${asQuotedArray(contents.map(({ value }) => value))}::text[],
      ${asQuotedArray(contents.map(({ isEscaped }) => isEscaped || null))}::boolean[],
      ${quoted(({ message }) => jsonOf(message.parts?.map(({ part }) => part)))}::text[],
      ${quoted(({ message }) => jsonOf(message.input.thinking))}::text[],
      ${quoted(({ message }) => jsonOf(message.input.toolCalls))}::text[],
      ${quoted(({ message }) => message.input.toolCallId)}::text[],
      ${quoted(({ message }) => message.input.toolName)}::text[],
      ${quoted(({ message }) => message.input.isError)}::boolean[],
      ${quoted(({ message }) => message.input.sentAt && formatTime(Date.parse(message.input.sentAt)))}::timestamptz[],
      ${quoted(({ message }) => formatTime(message.orderedAtMs))}::timestamptz[],
      ${plain(({ message }) => message.ordinal)}::integer[],
      ${quoted(({ latestAtMs }) => (latestAtMs === null ? null : formatTime(latestAtMs)))}::timestamptz[],
      ${quoted(({ message }) => message.input.sourceId)}::text[],
      ${quoted(({ message }) => message.input.model)}::text[],
      ${quoted(({ message }) => jsonOf(message.input.usage))}::text[],
      ${quoted(({ message }) => message.input.contextId)}::uuid[],
      ${quoted(({ message }) => message.input.pinned)}::boolean[],
      ${quoted(({ message }) => (message.iteration ? 'iteration' : message.input.keptAside))}::text[],
      ${quoted(({ message }) => jsonOf(message.input.metadata))}::text[],
      ${plain(({ message }) => message.tokensEstimate)}::integer[],
      ${plain(({ message }) => message.fingerprint)}::text[],
      ${quoted(({ message }) => message.restoresSeq?.toString())}::bigint[]
    ) as message (
      thread_id, seq, id, code, role, content, content_escaped, parts, thinking, tool_calls, tool_call_id, tool_name,
      is_error, sent_at, ordered_at, ordinal, latest_at, source_id, model, usage, context_id, pinned, kept_aside, metadata,
      tokens_estimate, fingerprint, restores_seq)
    ${assumeFreeCodes ? tx`` : tx`on conflict on constraint messages_code do nothing`}`
  if (count === messages.length) return

  // Messages whose short code is taken get longer ones.
  if (codeCharacters === CODE_CHARACTERS_MAX)
    throw new PermanentError('INTERNAL', 'no short code is free for a new message')
  const missing = await missingOf(tx, messages)
  await insertMessages(tx, missing, { receivedAtMs, assumeFreeCodes }, codeCharacters + 1)
}

async function missingOf(tx: Tx, messages: readonly PlannedMessage[]): Promise<readonly PlannedMessage[]> {
  const stored = await tx<{ id: string }[]>`
    select found.id
    from unnest(
      ${asArray(messages.map(({ threadId }) => threadId))}::uuid[], ${asArray(messages.map(({ seq }) => seq))}::bigint[]
    ) as given (thread_id, seq)
    cross join lateral (
      select id from heddle.messages
      where messages.thread_id = given.thread_id and ${byKey(tx, tx`messages.seq`, tx`given.seq`)}) as found`
  const present = new Set(stored.map(({ id }) => id))
  return messages.filter(({ message }) => !present.has(message.input.id))
}

function jsonOf(value: object | undefined): string | undefined {
  return value && JSON.stringify(value)
}
