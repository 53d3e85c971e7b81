import { isJsonObject, type JsonObject } from '@heddle/client/forms'
import { PermanentError } from '@heddle/contracts'
import { CODEX_TYPES } from './codex.js'
import { messagesOf } from './conversations.js'
import { LISTS } from './entry.js'
import { type SessionFormat, sessionFormats } from './parsed.js'
import { describeShape, type Source } from './source.js'

const HEDDLE_ROLES = new Set<unknown>(['tool_use', 'tool_result', 'error', 'approval'])
const OPENAI_ROLES = new Set<unknown>(['developer', 'tool', 'function'])
const HEDDLE_FIELDS = ['toolCalls', 'toolCallId', 'toolName', 'sourceId', 'sentAt', 'contextId', 'pinned', 'keptAside']
const OPENAI_FIELDS = ['tool_calls', 'tool_call_id', 'function_call', 'name', 'refusal', 'reasoning_content']
const ANTHROPIC_BLOCKS = new Set<unknown>([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'image',
  'document',
])
const OPENAI_PARTS = new Set<unknown>(['image_url', 'input_text', 'output_text', 'input_audio', 'refusal'])
const CLAUDE_CODE_FIELDS = ['sessionId', 'uuid', 'leafUuid']

/** Results of a scan of the whole file, independent of its format. */
export interface Survey {
  /** Null if the format is unknown. */
  readonly format: SessionFormat | null
  /** Whether any entry is a conversation itself. */
  readonly holdsLists: boolean
  /** Description of the first entry's structure. */
  readonly shape: string
}

/**
 * Scans a whole file, which finds broken records, and detects its format by its contents: by the first field or role
 * that only one format has. Messages with only roles and texts are read equally in all formats.
 *
 * @returns yields regularly, so that the process can serve others
 */
export function* surveyOf(source: Source): Generator<undefined, Survey> {
  const records = new MessageLook()
  const listed = new MessageLook()
  let [holdsLists, holdsSystem, holdsHistory, isOfClaudeCode, isOfCodex] = [false, false, false, false, false]
  let shape: string | null = null
  for (const entry of source.entries()) {
    const { value } = entry
    shape ??= describeShape(value)
    yield
    for (const name of LISTS) {
      for (const message of entry.list(name) ?? []) {
        if (name !== 'history' && isJsonObject(message) && messagesOf(entry)?.key === name) listed.see(message)
        yield
      }
    }
    if (!isJsonObject(value)) continue
    isOfClaudeCode ||= isClaudeCode(value)
    isOfCodex ||= CODEX_TYPES.has(value['type']) && isJsonObject(value['payload'])
    holdsLists ||= messagesOf(entry) !== null
    holdsSystem ||= value['system'] !== undefined
    holdsHistory ||= entry.list('history') !== null
    records.see(value)
  }
  shape ??= describeShape(null)
  const otherwise = source.kind === 'lines' ? 'heddle' : 'openai'
  const formatOfLists = () => (holdsSystem ? 'anthropic' : (listed.format('openai') ?? 'openai'))
  const format = () => {
    if (source.kind === 'object' && holdsHistory) return 'swe-agent'
    if (source.kind === 'object' && holdsLists && holdsSystem) return 'anthropic'
    if (isOfClaudeCode) return 'claude-code'
    if (isOfCodex) return 'codex'
    return holdsLists ? formatOfLists() : records.format(otherwise)
  }
  return { format: format(), holdsLists, shape }
}

export function unknownFormat(shape: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `file: is not in a known format (its first record is ${shape})`, {
    field: 'file',
    received: shape,
    hint: `Known formats: ${sessionFormats.join(', ')}. Name one if it applies to the file.`,
  })
}

/** Detects the format of a list from its messages so far. */
class MessageLook {
  #isSpoken = false
  #holdsLists = false
  #format: SessionFormat | null = null

  see(message: JsonObject): void {
    if (typeof message['role'] !== 'string') return
    this.#isSpoken = true
    this.#holdsLists ||= Array.isArray(message['content'])
    this.#format ??= formatOfMessage(message)
  }

  /** @param otherwise the format if the messages fit all of them */
  format(otherwise: SessionFormat): SessionFormat | null {
    if (!this.#isSpoken) return null
    // Lists of only texts are valid for OpenAI and Anthropic, and read equally; Heddle's contents are texts.
    return this.#format ?? (this.#holdsLists ? 'openai' : otherwise)
  }
}

function isClaudeCode(record: JsonObject): boolean {
  const { type, role, message } = record
  if (typeof type !== 'string' || role !== undefined) return false
  return isJsonObject(message) || CLAUDE_CODE_FIELDS.some((field) => typeof record[field] === 'string')
}

function formatOfMessage(message: JsonObject): SessionFormat | null {
  const { role, content, type } = message
  if (HEDDLE_ROLES.has(role) || HEDDLE_FIELDS.some((field) => field in message)) return 'heddle'
  if (OPENAI_ROLES.has(role) || OPENAI_FIELDS.some((field) => field in message)) return 'openai'
  if (type === 'message') return 'anthropic'
  if (content === null) return 'openai'
  if (!Array.isArray(content)) return null
  const kinds = content.map((part) => (isJsonObject(part) ? part['type'] : null))
  if (kinds.some((kind) => ANTHROPIC_BLOCKS.has(kind))) return 'anthropic'
  return kinds.some((kind) => OPENAI_PARTS.has(kind)) ? 'openai' : null
}
