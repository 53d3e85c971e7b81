import type { ToolCall } from '@heddle/contracts'

/** The arguments of a call, as far as they could be parsed. */
export interface ReadArguments {
  readonly fields: Readonly<Record<string, unknown>>
  /** The arguments if they are one bare text, such as a patch or a command line. */
  readonly text: string | null
  /** Whether all fields were read; false if they were recovered from broken JSON. */
  readonly whole: boolean
}

/** Parses a call's arguments: an object, JSON text, or the recoverable part of broken JSON. Never throws. */
export function readArguments(call: ToolCall): ReadArguments {
  if (typeof call.arguments !== 'string') return { fields: call.arguments, text: null, whole: true }
  const text = call.arguments
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return { fields: value as Record<string, unknown>, text: null, whole: true }
    }
    return { fields: {}, text: typeof value === 'string' ? value : null, whole: true }
  } catch {
    const fields = saveFields(text)
    const looksLikeJson = text.trimStart().startsWith('{')
    return { fields, text: looksLikeJson ? null : text, whole: false }
  }
}

/** Broken JSON is usually truncated JSON: the short fields at its start are complete. */
const SAVED_CHARACTERS_MAX = 4_000
const FIELD = /"(\w{1,40})"\s*:\s*(?:"((?:[^"\\]|\\.){0,1000})"|(\d{1,9})\b)/g

function saveFields(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null)
  for (const [, key, value, number] of text.slice(0, SAVED_CHARACTERS_MAX).matchAll(FIELD)) {
    if (key !== undefined) fields[key] ??= number === undefined ? unquote(value ?? '') : Number(number)
  }
  return fields
}

function unquote(value: string): string {
  try {
    return String(JSON.parse(`"${value}"`))
  } catch {
    return value
  }
}

/** The first of the named fields with a non-blank text. */
export function textField(fields: Readonly<Record<string, unknown>>, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (typeof value === 'string' && value.trim() !== '') return value
  }
  return null
}

/** The first of the named fields with an integer, also as text. */
export function numberField(fields: Readonly<Record<string, unknown>>, keys: readonly string[]): number | null {
  for (const key of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined
    const number = typeof value === 'string' && /^\s*-?\d{1,9}\s*$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  }
  return null
}
