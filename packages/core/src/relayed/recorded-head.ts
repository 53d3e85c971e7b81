import { createHash } from 'node:crypto'
import type { JsonObject, JsonValue } from '@heddle/contracts'
import { parseAt } from '../json/spans.js'
import { isObject } from '../provider-requests/blocks.js'
import { fieldsOf } from '../provider-requests/protocol.js'
import type { ProviderRequest } from '../provider-requests/read-request.js'
import { type RecordedHead, type RecordedText, textHash } from './request-delta.js'

/** Longest text of a field that is kept, in characters. */
const TEXT_CHARACTERS_MAX = 1_000_000

/** Instructions, kept as they are. */
const INSTRUCTIONS: ReadonlySet<string> = new Set(['system', 'instructions'])

/**
 * Parameters that are kept; all others are left out. Bodies have fields for credentials of further servers, for the end user's
 * identity and for whatever a gateway in front of a provider wants, and none of them may be stored.
 */
const PARAMETERS: ReadonlySet<string> = new Set([
  ...[
    'model',
    'max_tokens',
    'max_completion_tokens',
    'max_output_tokens',
    'temperature',
    'top_p',
    'top_k',
    'seed',
    'n',
  ],
  ...['stream', 'stop', 'stop_sequences', 'tool_choice', 'parallel_tool_calls', 'thinking', 'reasoning'],
  ...['reasoning_effort', 'response_format', 'text', 'verbosity', 'frequency_penalty', 'presence_penalty'],
  ...['service_tier', 'truncation', 'store', 'context_management', 'previous_response_id'],
])

/** Fields of a tool that are kept: what the model reads of it. Tools of a provider may have credentials of a server besides. */
const TOOL_FIELDS: ReadonlySet<string> = new Set([
  ...['type', 'name', 'description', 'input_schema', 'parameters', 'strict', 'function', 'format', 'cache_control'],
])

/** The fields of a body that are kept beside its conversation, and their texts. */
export function recordedHead(
  { protocol, head, fields }: ProviderRequest,
  body: Uint8Array,
): { readonly head: RecordedHead; readonly texts: readonly RecordedText[] } {
  const texts: RecordedText[] = []
  const kept: RecordedHead['fields'][number][] = []
  const parameters: JsonObject = {}
  let [omitted, parameterBytes] = [0, 0]
  const keep = (name: string, bytes: number, value: JsonValue): void => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const hash = text.length > TEXT_CHARACTERS_MAX ? null : textHash('head', text)
    kept.push({ name, bytes, hash })
    if (hash !== null) texts.push({ hash, kind: 'head', text, messageId: null, contextId: null })
  }
  for (const { name, from, to } of fields) {
    if (name === fieldsOf[protocol].list) continue
    const read = (): JsonValue => parseAt(body, { from, to }) as JsonValue
    if (INSTRUCTIONS.has(name)) keep(name, to - from, read())
    else if (name === 'tools' || name === 'functions') keep(name, to - from, toolsOf(read()))
    else if (PARAMETERS.has(name)) {
      parameters[name] = read()
      parameterBytes += to - from
    } else omitted++
  }
  keep('parameters', parameterBytes, parameters)
  return { head: { tokens: head.tokens, fields: kept, omitted }, texts }
}

/** Changes with every field beside the conversation, kept or not. */
export function headDigest({ protocol, fields }: ProviderRequest, body: Uint8Array): string {
  const digest = createHash('sha256')
  for (const { name, from, to } of fields) {
    if (name !== fieldsOf[protocol].list) digest.update(`${name} `).update(body.subarray(from, to))
  }
  return digest.digest('base64url')
}

function toolsOf(value: JsonValue): JsonValue {
  return Array.isArray(value) ? value.filter(isObject).map(toolOf) : []
}

function toolOf(tool: JsonObject): JsonObject {
  const fields = Object.entries(tool).filter(([name]) => TOOL_FIELDS.has(name))
  return Object.fromEntries(
    fields.map(([name, value]) => [name, name === 'function' && isObject(value) ? toolOf(value) : value]),
  )
}
