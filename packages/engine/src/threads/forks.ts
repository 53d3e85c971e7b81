import { randomUUID } from 'node:crypto'
import {
  type ForkBody,
  type ForkedThread,
  forkBodySchema,
  limits,
  nameSchema,
  notFound,
  parse,
  type ThreadComparison,
} from '@heddle/contracts'
import { messageReference, threadIdOf } from '@heddle/core'
import { compareThreads, forkThread, loadMessage, loadThread, type Tx } from '@heddle/store'
import { messageIdOf } from '../contexts/uncompact.js'
import type { EngineContext } from '../setup/options.js'

/** Characters of a name that is made, besides that of the thread: `-fork-` and eight of a random id. */
const SUFFIX_CHARACTERS = 14

/**
 * Creates a thread that shares the messages of another one up to a moment.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`, `AMBIGUOUS_REFERENCE`
 * @throws ConflictError if the name was used before, or the thread cannot be forked
 */
export async function fork(parts: EngineContext, thread: string, body: ForkBody = {}): Promise<ForkedThread> {
  const origin = parse(nameSchema, thread, 'thread')
  const { at, name = nameOf(origin), title } = parse(forkBodySchema, body, 'fork')
  const { store, projectId, queues } = parts
  const forked = await store.inProject(projectId, async (tx) => {
    const atSeq = at === undefined ? null : await seqOf(tx, parts, origin, at)
    return await forkThread(tx, { projectId, origin, name, atSeq, title: title ?? undefined })
  })
  const { threadId, agentName, atSeq, isNew, states } = forked
  const wake = { projectId, threadId }
  // The stages decide again where the origin had not decided yet, or only after the moment.
  if (isNew) await Promise.all([queues.wake('prune', wake), queues.wake('summarize', wake)])
  return {
    threadId,
    thread: name,
    agent: agentName,
    forkedFrom: { thread: origin, seq: atSeq },
    isNew,
    compactions: states,
  }
}

function nameOf(thread: string): string {
  return `${thread.slice(0, limits.nameCharactersMax - SUFFIX_CHARACTERS)}-fork-${randomUUID().slice(0, 8)}`
}

async function seqOf(tx: Tx, parts: EngineContext, thread: string, at: number | string): Promise<number> {
  if (typeof at === 'number') return at
  const threadId = threadIdOf(parts.projectId, thread)
  const id = await messageIdOf(tx, parts, { thread, given: at, field: 'at' })
  const message = await loadMessage(tx, { threadId, id })
  if (message === null) throw notFound('message', at, 'the thread has no such message')
  return message.seq
}

/** How far two threads share their messages. @throws PermanentError `NOT_FOUND` */
export async function compare(parts: EngineContext, thread: string, other: string): Promise<ThreadComparison> {
  const { store, projectId } = parts
  const names = [parse(nameSchema, thread, 'thread'), parse(nameSchema, other, 'other')]
  const found = await store.inProject(projectId, async (tx) => {
    const rows = await Promise.all(names.map((name) => loadThread(tx, { threadId: threadIdOf(projectId, name) })))
    const [one, second] = rows
    if (!one || !second) throw notFound('thread', names[rows.indexOf(null)] ?? '', 'see `heddle threads list`')
    return await compareThreads(tx, one, second)
  })
  const { commonSeq, common, code, after } = found
  return {
    thread,
    other,
    common: code === null ? null : { messages: common, seq: commonSeq, reference: messageReference(code) },
    after: { thread: after[0], other: after[1] },
  }
}
