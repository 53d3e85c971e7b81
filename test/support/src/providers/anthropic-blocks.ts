import { areParts, isAnthropicMedia } from '../validators/media.js'
import { type Fields, isBlank, isFields, isFilled } from './fields.js'
import { signatureOf } from './signatures.js'

const CALL_ID = /^[a-zA-Z0-9_-]+$/
const SERVER_CALL_ID = /^srvtoolu_[a-zA-Z0-9_]+$/
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/

/** Blocks whose fields are opaque to clients: only their places are checked. */
const OPAQUE = new Set([
  'compaction',
  'container_upload',
  'mcp_tool_use',
  'mcp_tool_result',
  'search_result',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
])

/** Faults of one block of a message, whatever is beside it. */
export function anthropicBlockFaults(block: Fields, role: 'user' | 'assistant'): string[] {
  const { type } = block
  const only = (wanted: string) =>
    role === wanted ? [] : [`\`${String(type)}\` blocks can only be in \`${wanted}\` messages`]
  switch (type) {
    case 'text':
      if (typeof block['text'] !== 'string') return ['text: field required']
      if (block['text'] === '') return ['text content blocks must be non-empty']
      return isBlank(block['text']) ? ['text content blocks must contain non-whitespace text'] : []
    case 'image':
    case 'document':
      return [...only('user'), ...(isMedia(block) ? [] : [`${type}.source: input does not match the expected tags`])]
    case 'thinking':
      return [
        ...only('assistant'),
        ...(block['signature'] === signatureOf(String(block['thinking']))
          ? []
          : ['invalid `signature` in `thinking` block']),
      ]
    case 'redacted_thinking':
      return [...only('assistant'), ...(isFilled(block['data']) ? [] : ['redacted_thinking.data: field required'])]
    case 'tool_use':
      return [...only('assistant'), ...callFaults(block)]
    case 'tool_result':
      return [...only('user'), ...resultFaults(block)]
    case 'server_tool_use':
      return [
        ...only('assistant'),
        ...(SERVER_CALL_ID.test(String(block['id']))
          ? []
          : ['server_tool_use.id: should match ^srvtoolu_[a-zA-Z0-9_]+$']),
        ...(isFields(block['input']) ? [] : ['server_tool_use.input: field required']),
      ]
    default:
      return OPAQUE.has(String(type)) ? [] : [`input tag '${String(type)}' does not match any of the expected tags`]
  }
}

function callFaults({ id, name, input }: Fields): string[] {
  return [
    ...(typeof id === 'string' && CALL_ID.test(id) ? [] : ['tool_use.id: should match ^[a-zA-Z0-9_-]+$']),
    ...(typeof name === 'string' && TOOL_NAME.test(name) ? [] : ['tool_use.name: should match ^[a-zA-Z0-9_-]{1,128}$']),
    ...(isFields(input) ? [] : ['tool_use.input: input should be a valid dictionary']),
  ]
}

function resultFaults({ tool_use_id: id, content, is_error: isError }: Fields): string[] {
  const isSound = content === undefined || typeof content === 'string' || content === null
  const isList = Array.isArray(content) && (content.length === 0 || areParts(content, isResultPart))
  const isEmpty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0)
  return [
    ...(typeof id === 'string' && CALL_ID.test(id) ? [] : ['tool_result.tool_use_id: should match ^[a-zA-Z0-9_-]+$']),
    ...(isSound || isList ? [] : ['tool_result.content: must be a text or blocks of text, images and documents']),
    ...(isError === undefined || isError === null || typeof isError === 'boolean'
      ? []
      : ['tool_result.is_error: input should be a boolean']),
    ...(isError === true && isEmpty ? ['content cannot be empty if `is_error` is true'] : []),
  ]
}

function isResultPart(part: Fields): boolean {
  if (part['type'] === 'text') return isFilled(part['text']) && !isBlank(part['text'])
  return part['type'] === 'search_result' || part['type'] === 'tool_reference' || isMedia(part)
}

/** Besides the media that Heddle renders: documents as text or as blocks, and files by their ids. */
function isMedia(block: Fields): boolean {
  const { type, source } = block
  if (type !== 'image' && type !== 'document') return false
  if (!isFields(source)) return false
  if (source['type'] === 'file') return isFilled(source['file_id'])
  if (type === 'document' && source['type'] === 'text') return isFilled(source['data'])
  if (type === 'document' && source['type'] === 'content') return source['content'] !== undefined
  return isAnthropicMedia(block)
}
