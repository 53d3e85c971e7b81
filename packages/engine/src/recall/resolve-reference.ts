import { notFound, PermanentError } from '@heddle/contracts'
import { formatReference, messageReference, type Reference, shortCode, threadIdOf } from '@heddle/core'
import {
  findMessagesByCode,
  findMessagesInProject,
  findThreads,
  type MessageCandidate,
  THREADS_SEARCHED_MAX,
  type ThreadCandidate,
  type Tx,
} from '@heddle/store'

export interface Resolved {
  readonly thread: ThreadCandidate
  readonly message: MessageCandidate
}

export interface ResolveOptions {
  /** The project of the reference and of the transaction. */
  readonly projectId: string
  /** The name of that project. */
  readonly project: string
  /** The name of the current thread, for references without one. */
  readonly current: string | undefined
}

/**
 * Finds the message of a reference (docs/pruning.md#references): a full reference contains its thread, a short one belongs to
 * the current thread, or without one to the only thread of the project that has such a message.
 *
 * @throws PermanentError `NOT_FOUND`, or `AMBIGUOUS_REFERENCE` with the candidates
 */
export async function resolveReference(tx: Tx, reference: Reference, options: ResolveOptions): Promise<Resolved> {
  const name = reference.thread ?? options.current
  if (name === undefined) return await findInProject(tx, { code: reference.message }, options.project)
  const thread = await findThread(tx, name, { ...options, isReference: reference.thread !== null })
  const { threadId } = thread
  return { thread, message: await resolveMessage(tx, { threadId, code: reference.message, name: thread.name }) }
}

/**
 * Finds the message of a thread by its code, or by its first characters.
 *
 * @throws PermanentError `NOT_FOUND`, or `AMBIGUOUS_REFERENCE` with the candidates
 */
export async function resolveMessage(
  tx: Tx,
  { threadId, code, name }: { threadId: string; code: string; name?: string },
): Promise<MessageCandidate> {
  const candidates = await findMessagesByCode(tx, threadId, code)
  const message = theOnlyOne(candidates, code)
  if (message) return message
  const thread = name === undefined ? 'the thread' : `thread "${name}"`
  if (candidates.length === 0) throw notFound('message', messageReference(code), `${thread} has no such message`)
  const references = candidates.map((candidate) => messageReference(candidate.code))
  throw ambiguous('message', messageReference(code), references)
}

/**
 * Finds the only message of a project with a code, or with the first characters of one, or with an id.
 *
 * @throws PermanentError `NOT_FOUND`, or `AMBIGUOUS_REFERENCE` with the candidates
 */
export async function findInProject(
  tx: Tx,
  by: { readonly code: string } | { readonly id: string },
  project: string,
): Promise<Resolved> {
  const code = 'id' in by ? shortCode(by.id) : by.code
  const found = await findMessagesInProject(tx, code)
  const { isComplete } = found
  const candidates = found.candidates.filter(({ message }) => !('id' in by) || message.id === by.id)
  const name = 'id' in by ? by.id : messageReference(code)
  const exact = candidates.filter(({ message }) => message.code === code)
  const likely = exact.length > 0 ? exact : candidates
  const [first, ...others] = likely
  if (first !== undefined && others.length === 0) return first
  if (first === undefined) {
    const where = isComplete ? 'no thread of the project' : `none of the newest ${THREADS_SEARCHED_MAX} threads`
    throw notFound('message', name, `${where} has such a message; name its thread if you know it`)
  }
  const references = likely.map(({ thread, message }) =>
    formatReference({ project, thread: thread.name, message: message.code }),
  )
  throw ambiguous('ref', name, references, 'name its thread, or give one of these references')
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

async function findThread(
  tx: Tx,
  name: string,
  { projectId, isReference }: Pick<ResolveOptions, 'projectId'> & { readonly isReference: boolean },
): Promise<ThreadCandidate> {
  const code = name.toLowerCase()
  const threadId = UUID.test(name) ? code : threadIdOf(projectId, name)
  const candidates = await findThreads(tx, { threadId, codePrefix: code })
  const named = candidates.find((candidate) => candidate.threadId === threadId)
  const coded = candidates.find((candidate) => candidate.code === code)
  // References contain codes, so a code takes precedence over a thread with such a name. The current thread is given by name.
  const chosen = isReference ? (coded ?? named) : (named ?? coded)
  const thread = chosen ?? theOnlyOne(candidates, code)
  if (thread) return thread
  if (candidates.length === 0) throw notFound('thread', name, 'see `heddle threads list`')
  throw ambiguous(
    'thread',
    name,
    candidates.map((candidate) => candidate.code),
  )
}

function theOnlyOne<Candidate extends { readonly code: string }>(
  candidates: readonly Candidate[],
  code: string,
): Candidate | undefined {
  return (
    candidates.find((candidate) => candidate.code === code) ?? (candidates.length === 1 ? candidates[0] : undefined)
  )
}

function ambiguous(
  kind: string,
  name: string,
  candidates: readonly string[],
  hint = 'give more characters of the reference',
): PermanentError {
  return new PermanentError('AMBIGUOUS_REFERENCE', `${name} may be any of ${candidates.join(', ')}`, {
    field: kind,
    received: name,
    facts: { candidates },
    hint,
  })
}
