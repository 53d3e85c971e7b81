import type { Page, ToolUse } from '@heddle/client/interface'
import {
  type ContextResult,
  limits,
  nameSchema,
  parse,
  type ReceiptEntry,
  type ToolUseOptions,
  toolUseQuerySchema,
} from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { loadToolsOf, loadToolUse } from '@heddle/store'
import { readContext } from '../contexts/contexts.js'
import type { EngineContext } from '../setup/options.js'
import { checkThread } from './largest.js'

type Shown = NonNullable<ToolUse['shown']>

/**
 * The tools of a thread with the sizes of their results, in one page.
 *
 * @throws PermanentError `NOT_FOUND`, for the thread and for the context
 */
export async function listToolUse(
  parts: EngineContext,
  given: string,
  options: ToolUseOptions = {},
): Promise<Page<ToolUse>> {
  const { store, projectId } = parts
  const thread = parse(nameSchema, given, 'thread')
  const { context: id } = parse(toolUseQuerySchema, options, 'tools')
  const threadId = threadIdOf(projectId, thread)
  const context = id === undefined ? null : await readContext(parts, id, {})
  const results = context === null ? [] : shownResults(context, thread)
  const { tools, names } = await store.inProject(projectId, async (tx) => {
    await checkThread(tx, threadId, thread)
    const messageIds = results.flatMap(({ messageId }) => messageId ?? [])
    return {
      tools: await loadToolUse(tx, { threadId, limit: limits.pageItemsMax }),
      names: messageIds.length === 0 ? new Map() : await loadToolsOf(tx, { threadId, messageIds }),
    }
  })
  const shown = new Map<string | null, Shown>()
  for (const { messageId, tokens } of results) {
    const tool = names.get(messageId ?? '')
    if (tool === undefined) continue
    const before = shown.get(tool) ?? { results: 0, tokens: 0 }
    shown.set(tool, { results: before.results + 1, tokens: before.tokens + tokens })
  }
  const items = tools.map((row) => ({
    ...row,
    shown: context === null ? null : (shown.get(row.tool) ?? { results: 0, tokens: 0 }),
  }))
  return { items, nextCursor: null }
}

/** The results of tools of a thread that a context shows, in whichever form. */
function shownResults({ thread: own, receipt }: ContextResult, thread: string): ReceiptEntry[] {
  return receipt.entries.filter(
    (entry) =>
      entry.role === 'tool_result' &&
      entry.messageId !== undefined &&
      (entry.thread ?? own) === thread &&
      !(['covered', 'left-out', 'removed'] as readonly string[]).includes(entry.mode),
  )
}
