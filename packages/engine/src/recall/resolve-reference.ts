import { notFound, PermanentError, validationError } from '@heddle/contracts'
import { type Reference, threadIdOf } from '@heddle/core'
import { findMessagesByCode, findThreads, type MessageCandidate, type ThreadCandidate, type Tx } from '@heddle/store'

export interface Resolved {
  readonly thread: ThreadCandidate
  readonly message: MessageCandidate
}

export interface ResolveOptions {
  /** The project of the reference and of the transaction. */
  readonly projectId: string
  /** The name of the current thread, for references without one. */
  readonly current: string | undefined
}

/**
 * Finds the message of a reference (docs/pruning.md#references): a full reference contains its thread, a short one belongs to
 * the current thread.
 *
 * @throws PermanentError `NOT_FOUND`, or `AMBIGUOUS_REFERENCE` with the candidates
 */
export async function resolveReference(tx: Tx, reference: Reference, options: ResolveOptions): Promise<Resolved> {
  const thread = await findThread(tx, reference, options)
  const code = reference.message
  const candidates = await findMessagesByCode(tx, thread.threadId, code)
  const message = theOnlyOne(candidates, code)
  if (message) return { thread, message }
  if (candidates.length === 0) throw notFound('message', `msg-${code}`, `thread "${thread.name}" has no such message`)
  throw ambiguous(
    'message',
    `msg-${code}`,
    candidates.map((candidate) => `msg-${candidate.code}`),
  )
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

async function findThread(tx: Tx, reference: Reference, options: ResolveOptions): Promise<ThreadCandidate> {
  const { projectId, current } = options
  const name = reference.thread ?? current
  if (name === undefined) {
    throw validationError(
      'thread',
      'is required: the reference names none',
      `msg-${reference.message}`,
      'give the thread, or the whole reference',
    )
  }
  const code = name.toLowerCase()
  const threadId = UUID.test(name) ? code : threadIdOf(projectId, name)
  const candidates = await findThreads(tx, { threadId, codePrefix: code })
  const named = candidates.find((candidate) => candidate.threadId === threadId)
  const coded = candidates.find((candidate) => candidate.code === code)
  // References contain codes, so a code takes precedence over a thread with such a name. The current thread is given by name.
  const chosen = reference.thread === null ? (named ?? coded) : (coded ?? named)
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

function ambiguous(kind: string, name: string, candidates: readonly string[]): PermanentError {
  return new PermanentError('AMBIGUOUS_REFERENCE', `${name} may be any of ${candidates.join(', ')}`, {
    field: kind,
    received: name,
    facts: { candidates },
    hint: 'give more characters of the reference',
  })
}
