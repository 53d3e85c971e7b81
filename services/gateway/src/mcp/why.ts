import type { ContextResult, McpToolName, mcpTools, ReceiptEntry } from '@heddle/contracts'
import { PermanentError, validationError } from '@heddle/contracts'
import type { z } from 'zod'
import { placeOf } from './session.js'
import type { ToolDeps } from './tool-deps.js'

type Input = z.output<(typeof mcpTools)[Extract<McpToolName, 'why'>]['input']>

/** Lines of messages that a context does not show; the last one says how many more there are. */
const HIDDEN_LINES_MAX = 20
/** Contexts among which the last one is looked for that was built. */
const CONTEXTS_READ = 20

/** The receipt of the last context of a thread in sentences for a model: the whole of it, or the lines of one message. */
export async function whyIn(input: Input, deps: ToolDeps): Promise<{ context: string; lines: string[] }> {
  const place = input.ref === undefined ? null : await placeOf({ ref: input.ref, thread: input.thread }, deps)
  const thread = place?.thread ?? input.thread ?? deps.session.thread
  if (thread === undefined) throw validationError('thread', 'is needed: no call has named a thread yet', 'nothing')
  const { contexts } = deps.client
  const { items } = await contexts.list({ thread, limit: CONTEXTS_READ })
  const last = items.find(({ status }) => status === 'built')
  if (last === undefined) {
    const hint = 'Build one with build_context.'
    throw new PermanentError('NOT_FOUND', 'no context of the thread was built', {
      field: 'thread',
      received: thread,
      hint,
    })
  }
  const context = await contexts.get(last.id)
  return { context: last.id, lines: place === null ? linesOf(context) : linesOfMessage(context, place.messageId) }
}

function linesOf({ receipt, tokensUsed, budget, strategy }: ContextResult): string[] {
  const hidden = receipt.entries.filter(isHidden)
  const more = hidden.length - HIDDEN_LINES_MAX
  return [
    `${tokensUsed} of ${budget} tokens, strategy ${strategy}; verbatim it would be ${receipt.tokensRaw}.`,
    ...receipt.sections.flatMap(({ name, tokens, count }) =>
      count > 0 ? [`${name}: ${tokens} tokens, entries ${count}.`] : [],
    ),
    ...hidden.slice(0, HIDDEN_LINES_MAX).map(lineOf),
    ...(more > 0 ? [`${more} more lines of messages that are not shown.`] : []),
    ...Object.entries(receipt.ineligible).flatMap(([reason, count]) =>
      count > 0 ? [`${count} messages never take part: ${reason}.`] : [],
    ),
    ...receipt.notes,
  ]
}

function linesOfMessage({ receipt }: ContextResult, messageId: string): string[] {
  const own = receipt.entries.filter((entry) => entry.messageId === messageId)
  if (own.length > 0) return own.map(lineOf)
  const hidden = receipt.entries.filter((entry) => isHidden(entry) && entry.messageId === undefined)
  if (hidden.length === 0) return ['The context has no line of it: it came later, or it never takes part.']
  return [
    'The context does not show it, and it has no line of its own. Lines of several messages:',
    ...hidden.map(lineOf),
  ]
}

function isHidden({ mode, count }: ReceiptEntry): boolean {
  return count > 0 && (mode === 'covered' || mode === 'left-out' || mode === 'removed')
}

function lineOf({ count, role, reference, mode, tokens, tokensRaw, fromSeq, toSeq, reason }: ReceiptEntry): string {
  const range = fromSeq === undefined || count === 1 ? '' : ` (${fromSeq} to ${toSeq})`
  const what = reference === undefined ? `${count} messages${range}` : `${reference} (${role ?? 'message'})`
  const size = tokensRaw === undefined ? `${tokens} tokens` : `${tokens} of ${tokensRaw} tokens`
  return `${what}: ${mode}, ${size}: ${reason}.`
}
