import { isJsonObject, type JsonObject } from '@heddle/client/forms'
import { PermanentError } from '@heddle/contracts'
import { isContinueItem } from './agents/continue.js'
import { isCursor } from './agents/cursor.js'
import { isGeminiCli } from './agents/gemini-cli.js'
import { isOpenCodeMessage } from './agents/opencode.js'
import { CODEX_TYPES } from './codex.js'
import { messagesOf } from './conversations.js'
import { LISTS } from './entry.js'
import { type SessionFormat, sessionFormats } from './parsed.js'
import { describeShape, type Source } from './source.js'
import { isLangfuse } from './traces/langfuse.js'
import { isLangSmith } from './traces/langsmith.js'
import { isOpenTelemetry } from './traces/open-telemetry.js'
import { hasClaudeCodeId, twins } from './twins.js'

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

/** Records that only one format has. A record of Cursor's stream may look like one of Claude Code. */
const MARKS: readonly { readonly format: SessionFormat; isOf(record: JsonObject): boolean }[] = [
  { format: 'cursor', isOf: isCursor },
  { format: 'gemini-cli', isOf: isGeminiCli },
  { format: 'langsmith', isOf: isLangSmith },
  { format: 'langfuse', isOf: isLangfuse },
  { format: 'open-telemetry', isOf: isOpenTelemetry },
  { format: 'claude-code', isOf: isClaudeCode },
  { format: 'codex', isOf: ({ type, payload }) => CODEX_TYPES.has(type) && isJsonObject(payload) },
]
/** Formats by their records and by the entries of their lists: the first one that is found counts. */
const MARKED: readonly SessionFormat[] = ['continue', 'opencode', ...MARKS.map(({ format }) => format)]

/** Results of a scan of the whole file, independent of its format. */
export interface Survey {
  /** Null if the format is unknown. */
  readonly format: SessionFormat | null
  /** Formats that certainly have a record in the file: no other format has one like it. */
  readonly certain: ReadonlySet<SessionFormat>
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
  let [holdsLists, holdsSystem, holdsHistory] = [false, false, false]
  /** Formats of which a record is in the file. */
  const seen = new Set<SessionFormat>()
  const certain = new Set<SessionFormat>()
  let shape: string | null = null
  for (const entry of source.entries()) {
    const { value } = entry
    shape ??= describeShape(value)
    yield
    for (const name of LISTS) {
      for (const message of entry.list(name) ?? []) {
        if (isJsonObject(message)) {
          if (name === 'history' && isContinueItem(message)) seen.add('continue')
          if (name === 'messages' && isOpenCodeMessage(message)) seen.add('opencode')
          if (name !== 'history' && messagesOf(entry)?.key === name) listed.see(message)
        }
        yield
      }
    }
    if (!isJsonObject(value)) continue
    for (const { format, isOf } of MARKS) if (isOf(value)) seen.add(format)
    for (const { format, isOf } of twins) if (isOf(value)) certain.add(format)
    holdsLists ||= messagesOf(entry) !== null
    holdsSystem ||= value['system'] !== undefined
    holdsHistory ||= entry.list('history') !== null
    records.see(value)
  }
  shape ??= describeShape(null)
  const otherwise = source.kind === 'lines' ? 'heddle' : 'openai'
  const formatOfLists = () => (holdsSystem ? 'anthropic' : (listed.format('openai') ?? 'openai'))
  const format = () => {
    const marked = MARKED.find((name) => seen.has(name))
    if (source.kind === 'object' && marked !== undefined && marked !== 'claude-code') return marked
    if (source.kind === 'object' && holdsHistory) return 'swe-agent'
    if (source.kind === 'object' && holdsLists && holdsSystem) return 'anthropic'
    if (marked !== undefined) return marked
    return holdsLists ? formatOfLists() : records.format(otherwise)
  }
  return { format: format(), certain, holdsLists, shape }
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
  const { type, role, message, sessionId } = record
  if (typeof type !== 'string' || role !== undefined) return false
  return isJsonObject(message) || typeof sessionId === 'string' || hasClaudeCodeId(record)
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
