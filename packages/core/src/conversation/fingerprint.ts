import { createHash, hash } from 'node:crypto'
import {
  holdsLongText,
  type IterationInput,
  jsonTextPieces,
  type MessageInput,
  type PlacedMessage,
  SHORT_TEXT_CHARACTERS_MAX,
} from '@heddle/contracts'
import type { Pausable } from '../recall/steps.js'

/**
 * A hash over the fields that the client sent, independent of key order: the same id with the same fingerprint is a
 * repeat, with another fingerprint a conflict. Two spellings of one instant are the same time.
 *
 * @returns 128 bits as {@link FINGERPRINT_DIGITS} hexadecimal digits
 */
export function messageFingerprint(message: MessageInput): string {
  return fingerprint(canonicalJson(asHashed(message)))
}

/**
 * The same for an iteration, over the producer's fields except the number, which the store may have assigned.
 */
export function iterationFingerprint({ iterationNumber: _, timestamp, ...given }: IterationInput): string {
  return fingerprint(canonicalJson(timestamp === undefined ? given : { ...given, timestamp: Date.parse(timestamp) }))
}

/** The fingerprint of a message in a job: of an iteration, that of all of its fields. */
export function placedFingerprint({ message, iteration }: Placed): string {
  return iteration === undefined
    ? messageFingerprint(message)
    : fingerprint(canonicalJson(asIteration(message, iteration)))
}

type Placed = Pick<PlacedMessage, 'message' | 'iteration'>

/** The same with a pause after each piece of a long text. */
export function* placedFingerprintSteps({ message, iteration }: Placed): Pausable<string> {
  const hashable = iteration === undefined ? asHashed(message) : asIteration(message, iteration)
  if (!holdsLongText(hashable)) return fingerprint(canonicalJson(hashable))
  const hashed = createHash('sha256')
  for (const piece of canonicalPieces(hashable)) {
    hashed.update(piece)
    yield
  }
  return hashed.digest('hex').slice(0, FINGERPRINT_DIGITS)
}

function asHashed(message: MessageInput): object {
  return message.sentAt === undefined ? message : { ...message, sentAt: Date.parse(message.sentAt) }
}

/** The fields of {@link iterationFingerprint}. */
function asIteration({ id, content, sentAt }: MessageInput, iteration: NonNullable<Placed['iteration']>): object {
  const { iterationNumber: _, ...fields } = iteration
  return { ...fields, id, output: content, ...(sentAt !== undefined && { timestamp: Date.parse(sentAt) }) }
}

export const FINGERPRINT_DIGITS = 32

/** Digits rather than bytes: bytes take twice as long to make and cannot be compared directly. */
export function fingerprint(text: string): string {
  return hash('sha256', text, 'hex').slice(0, FINGERPRINT_DIGITS)
}

/** JSON with the keys of each object sorted, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const fields = value as Readonly<Record<string, unknown>>
  let text = ''
  for (const key of Object.keys(fields).sort()) {
    if (fields[key] === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(fields[key])}`
  }
  return `{${text}}`
}

/** The same in pieces; long texts are split. */
function* canonicalPieces(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > SHORT_TEXT_CHARACTERS_MAX) {
    yield '"'
    yield* jsonTextPieces(value)
    yield '"'
  } else if (!holdsLongText(value)) yield canonicalJson(value)
  else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      yield index === 0 ? '[' : ','
      yield* canonicalPieces(inner)
    }
    yield ']'
  } else {
    const fields = value as Readonly<Record<string, unknown>>
    let before = '{'
    for (const key of Object.keys(fields).sort()) {
      if (fields[key] === undefined) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* canonicalPieces(fields[key])
      before = ','
    }
    yield '}'
  }
}
