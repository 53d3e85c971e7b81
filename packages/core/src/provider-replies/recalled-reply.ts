import type { Expansion, JsonObject } from '@heddle/contracts'
import { estimateValueTokens, isObject, objectsIn, textIn } from '../provider-requests/blocks.js'
import type { Protocol } from '../provider-requests/protocol.js'
import { RECALL_TOOL } from '../provider-requests/recall-tool.js'
import type { ReplyPart } from './reply-filter.js'

/** A part of a reply with the texts that its calls recalled, in their order. */
export interface AnsweredPart extends ReplyPart {
  readonly texts: readonly string[]
}

/** The entries with which a reply that waits for recalled texts goes on: what the model said, and what it asked for. */
export function entriesToContinue(protocol: Protocol, part: AnsweredPart): JsonObject[] {
  const results = resultsOf(protocol, part)
  return protocol === 'anthropic' ? [part.entry, { role: 'user', content: results }] : [part.entry, ...results]
}

/**
 * The form in which a reply is sent back later; null if nothing was recalled in it.
 *
 * @param entry its position in the client's next request
 */
export function expansionOf(protocol: Protocol, entry: number, parts: readonly AnsweredPart[]): Expansion | null {
  const last = parts.at(-1)
  if (last === undefined || parts.every(({ recalls }) => recalls.length === 0)) return null
  const before = parts.slice(0, -1).flatMap((part) => entriesToContinue(protocol, part))
  const results = resultsOf(protocol, last)
  const own = protocol === 'anthropic' ? [last.entry] : [last.entry, ...results]
  const added = [...before, ...results]
  return {
    entry,
    callIds: idsOfClient(last.entry),
    entries: [...before, ...own].map((each) => JSON.stringify(each)),
    results: protocol === 'anthropic' ? results.map((each) => JSON.stringify(each)) : [],
    tokens: added.reduce((sum, each) => sum + estimateValueTokens(each), 0),
  }
}

function resultsOf(protocol: Protocol, { recalls, texts }: AnsweredPart): JsonObject[] {
  return recalls.map(({ id }, index): JsonObject => {
    const content = texts[index] ?? ''
    if (protocol === 'anthropic') return { type: 'tool_result', tool_use_id: id, content }
    return { role: 'tool', tool_call_id: id, content }
  })
}

/** The calls of a reply that its client answers. */
function idsOfClient(entry: JsonObject): string[] {
  const blocks = objectsIn(entry['content']).filter(({ type, name }) => type === 'tool_use' && name !== RECALL_TOOL)
  const calls = objectsIn(entry['tool_calls']).filter(
    ({ function: called }) => !isObject(called) || called['name'] !== RECALL_TOOL,
  )
  return [...blocks, ...calls].flatMap(({ id }) => textIn(id) ?? [])
}
