import type { UncompactOptions, UncompactResult } from '@heddle/client/interface'
import { idSchema, notFound, parse, uncompactSchema, validationError } from '@heddle/contracts'
import { parseReference, threadIdOf } from '@heddle/core'
import { loadMessagesById, type MessageRange, redoCompactions, type Tx, undoCompactions } from '@heddle/store'
import type { z } from 'zod'
import { resolveReference } from '../recall/resolve-reference.js'
import type { EngineContext } from '../setup/options.js'
import { compactionOf } from './prune-plan.js'

/**
 * Undoes what compactions did to a message, a range or a whole thread: the next context shows these messages verbatim if
 * they fit, and later compactions skip them until a `redo`. Messages that no compaction has changed are not counted, so a
 * repeat changes nothing.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`, `AMBIGUOUS_REFERENCE`
 */
export async function uncompact(parts: EngineContext, options: UncompactOptions): Promise<UncompactResult> {
  const checked = parse(uncompactSchema, options, 'uncompact')
  const redo = checked.redo === true
  const threadId = threadIdOf(parts.projectId, checked.thread)
  const { agent, change } = await parts.store.inProject(parts.projectId, async (tx) => {
    const compaction = await compactionOf(tx, parts, checked)
    const range = await rangeOf(tx, parts, checked, { orAll: true })
    const { agentName, clearEpoch } = compaction.thread
    const series = { threadId, clearEpoch, range }
    return { agent: agentName, change: await (redo ? redoCompactions(tx, series) : undoCompactions(tx, series)) }
  })
  await parts.queues.wake('prune', { projectId: parts.projectId, threadId })
  const { messages, states } = change
  return { thread: checked.thread, agent, action: redo ? 'redone' : 'undone', messages, compactions: states }
}

type Selection = { readonly thread: string } & Partial<
  Pick<z.output<typeof uncompactSchema>, 'messageId' | 'fromSeq' | 'toSeq' | 'all'>
>

/**
 * @param options.orAll whether `all` may be given, for the words of the error
 * @throws PermanentError `VALIDATION_ERROR` unless one kind of selection is given; `NOT_FOUND`, `AMBIGUOUS_REFERENCE`
 */
export async function rangeOf(
  tx: Tx,
  parts: EngineContext,
  selected: Selection,
  { orAll = false }: { readonly orAll?: boolean } = {},
): Promise<MessageRange> {
  const { messageId, fromSeq, toSeq, all } = selected
  const isRange = fromSeq !== undefined || toSeq !== undefined
  const given = [messageId !== undefined, isRange, all === true].filter(Boolean).length
  if (given !== 1) {
    const others = orAll ? 'or a range or all' : 'or a range'
    throw validationError('messageId', `${others} must be given, and only one of them`, `${given} of them`)
  }
  if (messageId !== undefined)
    return { messageId: await messageIdOf(tx, parts, { thread: selected.thread, given: messageId }) }
  if (!isRange) return { all: true }
  if (fromSeq === undefined || toSeq === undefined || fromSeq > toSeq) {
    throw validationError(
      'fromSeq',
      'and toSeq must both be given, the first not after the last',
      `${fromSeq}-${toSeq}`,
    )
  }
  return { fromSeq, toSeq }
}

/** @throws PermanentError `VALIDATION_ERROR` also for a reference that names another thread: the change may be final */
export async function messageIdOf(
  tx: Tx,
  parts: EngineContext,
  { thread, given, field = 'messageId' }: { readonly thread: string; readonly given: string; readonly field?: string },
): Promise<string> {
  const { projectId, project } = parts
  const threadId = threadIdOf(projectId, thread)
  const id = idSchema.safeParse(given)
  if (id.success) {
    const [message] = await loadMessagesById(tx, { threadId, ids: [id.data] })
    if (message === undefined) throw notFound('message', given, 'the thread has no message with this id')
    return id.data
  }
  const reference = parseReference(given, field)
  const elsewhere = () => validationError(field, `must name a message of thread "${thread}"`, given)
  if (reference.project !== null && reference.project !== project) throw elsewhere()
  const resolved = await resolveReference(tx, reference, { projectId, project, current: thread })
  if (resolved.thread.threadId !== threadId) throw elsewhere()
  return resolved.message.id
}
