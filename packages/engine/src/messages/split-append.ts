import {
  type IngestJob,
  jsonLengthOf,
  limits,
  PermanentError,
  type PlacedMessage,
  placedCharacters,
} from '@heddle/contracts'

/** A message to send, with its size. */
export interface SizedMessage {
  readonly placed: PlacedMessage
  /** Of its texts, which the schema of jobs limits. */
  readonly characters: number
  /** Of its JSON, including metadata, usage and escapes. Estimated for a small message. */
  readonly jsonCharacters: number
}

/** Messages that are sent in one job. */
export interface MessageBatch {
  readonly messages: PlacedMessage[]
  characters: number
  jsonCharacters: number
}

/** A job to send, with its size. */
export interface OutgoingJob {
  readonly job: IngestJob
  readonly bytes: number
}

/** Messages in one job: a hundred make one insert efficient, and a lost job costs little to send again. */
export const MESSAGES_PER_JOB = 100
/** Characters of JSON in one job, which queues send in one round trip. A larger message gets its own job. */
export const JSON_CHARACTERS_PER_JOB = 8_000_000

/**
 * Measures a message as it will be in the queue.
 *
 * @param field its name in the error: `messages.3`
 * @throws PermanentError `PAYLOAD_TOO_LARGE` for a message that no job can hold
 */
export function measure(placed: PlacedMessage, field: string): SizedMessage {
  const jsonCharacters = jsonCharactersOf(placed)
  if (jsonCharacters > limits.messageJsonCharactersMax) {
    throw new PermanentError('PAYLOAD_TOO_LARGE', `${field}: has ${jsonCharacters} characters as JSON`, {
      field,
      received: `${jsonCharacters} characters`,
      hint: `A message may have ${limits.messageJsonCharactersMax} characters as JSON, including its metadata and usage. Store large attachments elsewhere, and their addresses in the metadata.`,
    })
  }
  return { placed, characters: placedCharacters(placed), jsonCharacters }
}

/** Up to this number of characters a message is so far below every limit that an estimate of its size suffices. */
const SMALL_CHARACTERS = 4_000
/** Characters of the names, quotes, ids and times of a message that has little more than a content. */
const FRAME_CHARACTERS = 250

function jsonCharactersOf(placed: PlacedMessage): number {
  const { content, parts, metadata, usage, toolCalls, thinking } = placed.message
  const isPlain =
    placed.iteration === undefined &&
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

/** Splits messages into jobs, limited by messages, by the characters of their texts and by those of their JSON. */
export function split(messages: readonly SizedMessage[]): MessageBatch[] {
  const batchs: MessageBatch[] = []
  for (const message of messages) {
    const last = batchs.at(-1)
    if (last !== undefined && fits(last, message)) put(last, message)
    else batchs.push({ messages: [message.placed], ...sizesOf(message) })
  }
  return batchs
}

function fits({ messages, characters, jsonCharacters }: MessageBatch, message: SizedMessage): boolean {
  return (
    messages.length < MESSAGES_PER_JOB &&
    characters + message.characters <= limits.charactersPerJobMax &&
    jsonCharacters + message.jsonCharacters <= JSON_CHARACTERS_PER_JOB
  )
}

function put(batch: MessageBatch, message: SizedMessage): void {
  batch.messages.push(message.placed)
  batch.characters += message.characters
  batch.jsonCharacters += message.jsonCharacters
}

function sizesOf({ characters, jsonCharacters }: SizedMessage) {
  return { characters, jsonCharacters }
}
