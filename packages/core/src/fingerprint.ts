import { hash } from 'node:crypto'
import type { MessageInput } from '@heddle/contracts'

/**
 * A hash over the fields that the client gave, whatever the order of their keys: the same id with the same fingerprint is
 * a repeat, with another one a conflict. Two spellings of one instant are the same time.
 */
export function messageFingerprint(message: MessageInput): Uint8Array {
  const given = message.sentAt === undefined ? message : { ...message, sentAt: Date.parse(message.sentAt) }
  return hash('sha256', canonicalJson(given), 'buffer').subarray(0, 16)
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
