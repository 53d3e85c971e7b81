import { createHash } from 'node:crypto'
import type { ToolCall } from '@heddle/contracts'

/** OpenAI refuses longer ids; Anthropic documents no limit, and its own ids are shorter. */
const CALL_ID_CHARACTERS_MAX = 40
const PLAIN_ID = /^[a-zA-Z0-9_-]+$/
const DERIVED_ID = /^heddle_[0-9a-f]{32}$/
/** Deeper than any tool's schema. Servers refuse far deeper values, and serializing them overflows the stack. */
const NESTING_MAX = 64
const UNREADABLE_KEY = 'unparsed_arguments'

export type JsonObject = Extract<ToolCall['arguments'], object>
type Json = JsonObject[string]

/**
 * The id under which a call is sent. It depends only on the call's own id, so that a call keeps its id from context to
 * context and a message can be counted alone. An id that looks like a derived one is derived again, so that two ids
 * never collide.
 */
export function sentCallId(id: string): string {
  if (PLAIN_ID.test(id) && id.length <= CALL_ID_CHARACTERS_MAX && !DERIVED_ID.test(id)) return id
  return `heddle_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}

/** The name under which a call is sent: characters that providers refuse become `_`. */
export function sentToolName(name: string, charactersMax: number): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, charactersMax) || 'tool'
}

/**
 * Arguments as an object. A text that is not a JSON object, which models do write, is kept whole under one key: a
 * server that parses arguments would refuse the request, and dropping them would misrepresent the model's own call to
 * it.
 */
export function argumentsObject(given: ToolCall['arguments']): JsonObject {
  if (typeof given !== 'string') return nestingFits(given) ? wellFormedObject(given) : unreadable('too deeply nested')
  if (given.trim() === '') return {}
  const parsed = parseObject(given)
  return parsed === null ? unreadable(given) : wellFormedObject(parsed)
}

/**
 * Arguments as JSON text: a text with a JSON object is kept unchanged, all others are converted by {@link
 * argumentsObject}.
 */
export function argumentsText(given: ToolCall['arguments']): string {
  if (typeof given === 'string' && given.isWellFormed()) {
    const parsed = parseObject(given)
    if (parsed !== null && everyTextIsWellFormed(parsed)) return given
  }
  return JSON.stringify(argumentsObject(given))
}

function unreadable(text: string): JsonObject {
  return { [UNREADABLE_KEY]: text.toWellFormed() }
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && nestingFits(value) ? value : null
  } catch {
    return null
  }
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Half a surrogate pair may be escaped in the JSON text, so the parsed value is checked. */
function wellFormedObject(value: JsonObject): JsonObject {
  return everyTextIsWellFormed(value) ? value : repairTexts(value)
}

function everyTextIsWellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, field]) => key.isWellFormed() && everyTextIsWellFormed(field))
}

function repairTexts(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key.toWellFormed(), repairText(field)]))
}

function repairText(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(repairText)
  return isJsonObject(value) ? repairTexts(value) : value
}

function nestingFits(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth < NESTING_MAX; depth++) {
    level = level.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.values(entry) : []))
    if (level.length === 0) return true
  }
  return false
}
