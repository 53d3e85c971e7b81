import { hash } from 'node:crypto'
import type { MessageInput } from '@heddle/contracts'

/**
 * A hash over the fields that the client gave, whatever the order of their keys: the same id with the same fingerprint is
 * a repeat, with another one a conflict. Two spellings of one instant are the same time.
 *
 * @returns 128 bits as {@link FINGERPRINT_DIGITS} hexadecimal digits
 */
export function messageFingerprint(message: MessageInput): string {
  const given = message.sentAt === undefined ? message : { ...message, sentAt: Date.parse(message.sentAt) }
  return fingerprint(canonicalJson(given))
}

export const FINGERPRINT_DIGITS = 32

/** As digits and not as bytes, which take twice as long to make and cannot be compared as they are. */
export function fingerprint(text: string): string {
  return hash('sha256', text, 'hex').slice(0, FINGERPRINT_DIGITS)
}

/** JSON with the keys of each object in order: one spelling for all values that say the same. */
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
