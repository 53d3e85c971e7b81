import {
  type IngestJob,
  jsonLengthOf,
  limits,
  messageCharacters,
  PermanentError,
  type PlacedMessage,
} from '@heddle/contracts'

/** A message on its way, with what it takes of a job's room. */
export interface SizedMessage {
  readonly placed: PlacedMessage
  /** Of its texts, which the schema of jobs bounds. */
  readonly characters: number
  /** Of its JSON: metadata, usage and escapes included. That of a small message is estimated. */
  readonly jsonCharacters: number
}

/** Messages that travel together. */
export interface MessageBatch {
  readonly messages: PlacedMessage[]
  characters: number
  jsonCharacters: number
}

/** A job that is to be sent, with what it takes of the queue's room. */
export interface OutgoingJob {
  readonly job: IngestJob
  readonly bytes: number
}

/** Messages in one job: a hundred fill one insert well, and a lost job costs little to send again. */
export const MESSAGES_PER_JOB = 100
/** Characters of JSON in one job: what queues send in one round trip. A larger message goes alone. */
export const JSON_CHARACTERS_PER_JOB = 8_000_000

/**
 * Measures a message as it will lie in the queue.
 *
 * @param field names it in the error: `messages.3`
 * @throws PermanentError `PAYLOAD_TOO_LARGE` for a message that no job can hold
 */
export function measure(placed: PlacedMessage, field: string): SizedMessage {
  const jsonCharacters = jsonCharactersOf(placed)
  if (jsonCharacters > limits.messageJsonCharactersMax) {
    throw new PermanentError('PAYLOAD_TOO_LARGE', `${field}: has ${jsonCharacters} characters as JSON`, {
      field,
      received: `${jsonCharacters} characters`,
      hint: `A message may have ${limits.messageJsonCharactersMax} characters as JSON, its metadata and usage included: keep large attachments elsewhere, and their addresses in the metadata.`,
    })
  }
  return { placed, characters: messageCharacters(placed.message), jsonCharacters }
}

/** Up to so many characters, a message is so far from every bound that an estimate of its size will do. */
const SMALL_CHARACTERS = 4_000
/** Names, quotes, ids and times of a message that has little more than a content. */
const FRAME_CHARACTERS = 250

function jsonCharactersOf(placed: PlacedMessage): number {
  const { content, parts, metadata, usage, toolCalls, thinking } = placed.message
  const isPlain =
    parts === undefined &&
    metadata === undefined &&
    usage === undefined &&
    toolCalls === undefined &&
    thinking === undefined
  if (isPlain && content.length <= SMALL_CHARACTERS) return content.length + FRAME_CHARACTERS
  const { message } = placed
  const frame = JSON.stringify({ ...placed, message: { ...message, content: '' } }).length
  return frame - 2 + jsonLengthOf(content)
}

/** Jobs are bounded by messages, by the characters of their texts and by those of their JSON, so that no queue holds a giant. */
export function split(messages: readonly SizedMessage[]): MessageBatch[] {
  const parcels: MessageBatch[] = []
  for (const message of messages) {
    const last = parcels.at(-1)
    if (last !== undefined && fits(last, message)) put(last, message)
    else parcels.push({ messages: [message.placed], ...sizesOf(message) })
  }
  return parcels
}

function fits({ messages, characters, jsonCharacters }: MessageBatch, message: SizedMessage): boolean {
  return (
    messages.length < MESSAGES_PER_JOB &&
    characters + message.characters <= limits.charactersPerJobMax &&
    jsonCharacters + message.jsonCharacters <= JSON_CHARACTERS_PER_JOB
  )
}

function put(parcel: MessageBatch, message: SizedMessage): void {
  parcel.messages.push(message.placed)
  parcel.characters += message.characters
  parcel.jsonCharacters += message.jsonCharacters
}

function sizesOf({ characters, jsonCharacters }: SizedMessage) {
  return { characters, jsonCharacters }
}
