import type { Message } from '../message.js'
import { describeToolCall, type ToolCatalog, type ToolUse } from '../tools/catalog.js'
import { normalizePath } from '../tools/paths.js'
import { describeToolResult, type ToolOutcome } from '../tools/results.js'
import type { ToolPair, ToolPairs } from '../turns.js'

/** A tool's result with what its call and its text say about it. */
export interface ToolEvent {
  readonly result: Message
  /** Null for a result whose call is not known. */
  readonly pair: ToolPair | null
  readonly use: ToolUse
  readonly outcome: ToolOutcome
  /** The files that were viewed or edited, in their normal spelling. */
  readonly paths: readonly string[]
}

/** The results among messages, in their order. */
export function toolEvents(messages: readonly Message[], pairs: ToolPairs, catalog?: ToolCatalog): ToolEvent[] {
  return messages.flatMap((result) => {
    if (result.role !== 'tool_result') return []
    const pair = pairs.byResult.get(result.id) ?? null
    const call = pair?.call ?? { id: '', name: result.toolName ?? '', arguments: {} }
    const use = describeToolCall(call, catalog)
    const outcome = describeToolResult(use, result.content, result.isError)
    const others = use.paths.slice(1).map((path) => normalizePath(path))
    const paths = outcome.path === null ? others : [outcome.path, ...others]
    return [{ result, pair, use, outcome, paths }]
  })
}
