import type { ContextResult, HeddleEvent, SnapshotFile } from '@heddle/contracts'
import type { FollowOptions, SubscribeOptions } from '../interface/events.js'

/** The sources of a subscription, on either transport. */
interface Sources {
  readonly events: { follow(options: FollowOptions): Promise<AsyncIterable<HeddleEvent>> }
  readonly contexts: { get(id: string): Promise<ContextResult> }
  readonly snapshots: { get(id: string): Promise<SnapshotFile> }
}

/** A context, or a snapshot with its messages; `event.topic` says which, and `event.number` is where to resume. */
export type Delivered = (ContextResult | (SnapshotFile & { readonly id: string })) & { readonly event: HeddleEvent }

/**
 * Yields the contexts of the project, of an agent or of a thread as they are built, by any requester, and the snapshots
 * of the project or the agent as they are saved, until `signal` is aborted. Erased ones are skipped. Nothing is
 * buffered while the caller is busy: each is read when the caller asks for it.
 *
 * @param options `after`: the number of the last event that the caller has; later ones are yielded first
 * @returns once the subscription is established, so that no event is missed
 */
export async function subscribeToContexts(
  sources: Sources,
  options: SubscribeOptions,
): Promise<AsyncIterable<Delivered>> {
  return each(await sources.events.follow({ ...options, topics: ['context.built', 'snapshot.saved'] }), sources)
}

async function* each(events: AsyncIterable<HeddleEvent>, sources: Sources): AsyncGenerator<Delivered> {
  for await (const event of events) {
    const delivered = await read(event, sources)
    if (delivered !== null) yield { ...delivered, event }
  }
}

async function read({ topic, subjectId }: HeddleEvent, { contexts, snapshots }: Sources) {
  if (subjectId === null) return null
  try {
    if (topic === 'context.built') return await contexts.get(subjectId)
    return { id: subjectId, ...(await snapshots.get(subjectId)) }
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NOT_FOUND'
}
