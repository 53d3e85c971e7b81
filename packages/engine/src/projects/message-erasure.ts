import { randomUUID } from 'node:crypto'
import type { EraseOptions, ErasureResult } from '@heddle/client/interface'
import { type EraseMessagesOptions, eraseMessagesSchema, notFound, parse } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { beginMessageErasure, loadErasure, openMessageErasures } from '@heddle/store'
import { compactionOf } from '../contexts/prune-plan.js'
import { rangeOf } from '../contexts/uncompact.js'
import type { EngineContext } from '../setup/options.js'
import { removeAll } from './erasure.js'

/**
 * Erases messages of a thread, with the calls and results that belong to them and everything that was derived from them. Their
 * rows stay without content. A repeat finishes what an interrupted call has begun.
 *
 * @throws PermanentError `NOT_FOUND`, `AMBIGUOUS_REFERENCE`, `VALIDATION_ERROR`
 */
export async function eraseMessages(
  parts: EngineContext,
  options: EraseMessagesOptions,
  { signal, wait = true }: Omit<EraseOptions, 'reuse'> = {},
): Promise<ErasureResult> {
  const selected = parse(eraseMessagesSchema, options, 'erasure')
  const { store, projectId, log } = parts
  const threadId = threadIdOf(projectId, selected.thread)
  const target = { projectId, kind: 'messages', targetId: randomUUID() } as const
  const { targets, textHashes, forkIds } = await store.inProject(projectId, async (tx) => {
    await compactionOf(tx, parts, selected)
    const range = await rangeOf(tx, parts, selected)
    const begun = await beginMessageErasure(tx, { erasureId: target.targetId, threadId, range })
    if (begun.found === 0) throw noSuchMessages(selected)
    return { ...begun, targets: await openMessageErasures(tx, { threadId }) }
  })
  const named = { kind: target.kind, name: selected.thread }
  const finish = async (until?: AbortSignal) => {
    let jobs = 0
    for (const targetId of targets) jobs += await removeAll(parts, { ...target, targetId }, until, textHashes)
    // The compactions and progress summaries that saw the messages are made again.
    const wakes = [threadId, ...forkIds].map((id) => ({ projectId, threadId: id }))
    await Promise.all(wakes.flatMap((wake) => [parts.queues.wake('prune', wake), parts.queues.wake('summarize', wake)]))
    return jobs
  }
  if (!wait) {
    finish().catch((error: unknown) =>
      log?.warn({ error }, 'finishing an erasure of messages failed; a worker will continue it'),
    )
    return { ...named, removed: {}, jobs: 0, finished: false }
  }
  const jobs = await finish(signal)
  const erasure = await store.inProject(projectId, (tx) => loadErasure(tx, target))
  return { ...named, removed: erasure?.removed ?? {}, jobs, finished: true }
}

function noSuchMessages({ messageId, fromSeq, toSeq }: EraseMessagesOptions) {
  return notFound('message', messageId ?? `${fromSeq}-${toSeq}`, 'the thread has no message there; see its history')
}
