import type { Message } from '../conversation/message.js'
import type { ToolPair, ToolPairs } from '../conversation/turns.js'
import { describeToolCall, type ToolCatalog, type ToolUse } from '../tools/catalog.js'
import { normalizePath } from '../tools/paths.js'
import { describeToolResult, type ToolOutcome } from '../tools/results.js'
import type { ShellWrite } from '../tools/shell-writes.js'

/** A tool's result with the facts derived from its call and its text. */
export interface ToolEvent {
  readonly result: Message
  /** Null for a result without a known call. */
  readonly pair: ToolPair | null
  readonly use: ToolUse
  readonly outcome: ToolOutcome
  /** The files that were viewed or edited, as normalized paths. */
  readonly paths: readonly string[]
  /** The files that a command line wrote or removed, as normalized paths. */
  readonly writes: readonly ShellWrite[]
}

/** The results among messages, in order. Relative paths are resolved if the working directory is known. */
export function toolEvents(messages: readonly Message[], pairs: ToolPairs, catalog?: ToolCatalog): ToolEvent[] {
  let sessionDirectory: string | null = null
  return messages.flatMap((result) => {
    sessionDirectory = result.cwd ?? sessionDirectory
    if (result.role !== 'tool_result') return []
    const pair = pairs.byResult.get(result.id) ?? null
    const call = pair?.call ?? { id: '', name: result.toolName ?? '', arguments: {} }
    const use = describeToolCall(call, catalog)
    const outcome = describeToolResult(use, result.content, result.isError)
    const directory = use.directory === null ? sessionDirectory : normalizePath(use.directory, sessionDirectory)
    const from = outcome.directory ?? directory
    const others = use.paths.slice(1).map((path) => normalizePath(path, from))
    const paths = outcome.path === null ? others : [normalizePath(outcome.path, from), ...others]
    const writes = use.writes.map(({ path, gone }) => ({ path: normalizePath(path, from), gone }))
    return [{ result, pair, use, outcome, paths, writes }]
  })
}
