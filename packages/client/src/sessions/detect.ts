import { PermanentError } from '@heddle/contracts'
import { messagesOf } from './conversations.js'
import { isJsonObject, type Json, type JsonObject } from './json.js'
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

/**
 * Tells a file's format by its content: by the first field or role that only one format has. Messages of nothing but
 * roles and texts read the same in all of them.
 *
 * @throws PermanentError `VALIDATION_ERROR` that says what the file looks like
 */
export function detectFormat(source: Source): SessionFormat {
  const format =
    source.kind === 'lines'
      ? detectRecords(
          source.records.map(({ value }) => value),
          'heddle',
        )
      : detectDocument(source.value)
  if (format !== null) return format
  const shown = source.kind === 'lines' ? source.records[0]?.value : source.value
  const received = describeShape((Array.isArray(shown) ? shown[0] : shown) ?? null)
  throw new PermanentError('VALIDATION_ERROR', `file: is in no known format (its first record is ${received})`, {
    field: 'file',
    received,
    hint: `Known formats: ${sessionFormats.join(', ')}. Name one if the file is of it.`,
  })
}

function detectDocument(value: Json): SessionFormat | null {
  if (Array.isArray(value)) return detectRecords(value.filter(isJsonObject), 'openai')
  if (!isJsonObject(value)) return null
  if (Array.isArray(value['history'])) return 'swe-agent'
  if (messagesOf(value) !== null && value['system'] !== undefined) return 'anthropic'
  return detectRecords([value], 'openai')
}

/** @param otherwise the format of messages that could be of any */
function detectRecords(records: readonly JsonObject[], otherwise: SessionFormat): SessionFormat | null {
  if (records.some(isClaudeCode)) return 'claude-code'
  const lists = records.map(messagesOf)
  if (lists.some((list) => list !== null)) {
    if (records.some((record) => record['system'] !== undefined)) return 'anthropic'
    const messages = lists.flatMap((list) => list?.messages.filter(isJsonObject) ?? [])
    return detectMessages(messages, 'openai') ?? 'openai'
  }
  return detectMessages(records, otherwise)
}

function detectMessages(messages: readonly JsonObject[], otherwise: SessionFormat): SessionFormat | null {
  const spoken = messages.filter((message) => typeof message['role'] === 'string')
  if (spoken.length === 0) return null
  for (const message of spoken) {
    const format = formatOfMessage(message)
    if (format !== null) return format
  }
  // Lists of nothing but texts are both OpenAI's and Anthropic's, and read the same; Heddle's contents are texts.
  return spoken.some((message) => Array.isArray(message['content'])) ? 'openai' : otherwise
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
