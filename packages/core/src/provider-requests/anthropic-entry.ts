import type { JsonObject } from '@heddle/contracts'
import { objectsIn, textIn } from './blocks.js'
import type { ReadEntry, ResultPlace } from './entry.js'

/** Reads a message of a request to Anthropic's Messages API. */
export function readAnthropicEntry(value: JsonObject): ReadEntry {
  const blocks = objectsIn(value['content'])
  const results = blocks.filter(({ type }) => type === 'tool_result')
  return {
    kind: value['role'] === 'assistant' ? 'assistant' : results.length > 0 ? 'results' : 'user',
    calls: blocks.flatMap(({ type, id, name }) =>
      type === 'tool_use' && typeof id === 'string' ? [{ id, name: textIn(name) ?? '' }] : [],
    ),
    resultIds: results.flatMap((block) => textIn(block['tool_use_id']) ?? []),
    isBoundToNext: false,
    isOwnCompaction: blocks.some(({ type }) => type === 'compaction'),
    results: (Array.isArray(value['content']) ? value['content'] : []).flatMap((block, index) =>
      textOfResult(block as JsonObject, index),
    ),
  }
}

/** A failure is never replaced: it is what the model needs next. */
function textOfResult(block: JsonObject, index: number): ResultPlace[] {
  const callId = textIn(block?.['tool_use_id'])
  if (block?.['type'] !== 'tool_result' || callId === null || block['is_error'] === true) return []
  const { content } = block
  const path = ['content', index, 'content']
  if (typeof content === 'string') return [{ path, callId, text: content }]
  const [only, ...others] = objectsIn(content)
  const text = only?.['type'] === 'text' && others.length === 0 ? textIn(only['text']) : null
  return text === null ? [] : [{ path: [...path, 0, 'text'], callId, text }]
}
