import type { Client } from '@heddle/client/interface'
import type { PartialSettings } from '@heddle/contracts'
import { projectIdOf, type TextEmbedder, threadIdOf } from '@heddle/core'
import { embed } from '@heddle/embed'
import { createClient, type SearchReranker } from '@heddle/engine'
import { createHashingEmbedder, type Embedder } from '@heddle/models'
import type { Queues } from '@heddle/queue'
import type { Clock } from '@heddle/runtime'
import type { PreparedMessage } from '@heddle/store'
import { append, appendOne, newId, type TestStore } from '../store/support.js'

export const PROJECT_NAME = 'search tests'

export interface Place {
  readonly project?: string
  readonly agent?: string
  readonly thread: string
}

/** A client for operations that need a store and no queue. */
export function clientOn(
  { store }: Pick<TestStore, 'store'>,
  project = PROJECT_NAME,
  {
    clock,
    embedder,
    reranker,
    settings,
  }: { clock?: Clock; embedder?: TextEmbedder; reranker?: SearchReranker; settings?: PartialSettings } = {},
): Client {
  return createClient({
    store,
    // An erasure removes the thread's jobs from the queues, which do not exist here.
    queues: { removeJobs: async () => 0 } as unknown as Queues,
    project,
    ...(clock && { clock }),
    ...(reranker && { reranker }),
    ...(embedder && { embedder: async () => embedder }),
    ...(settings && { settings }),
  })
}

/** Stores messages of a thread. */
export async function store(database: TestStore, place: Place, messages: readonly PreparedMessage[]): Promise<void> {
  const { project = PROJECT_NAME, agent = 'weaver', thread } = place
  await appendOne(database.store, append(messages, { agent, thread }), projectIdOf(project))
}

/** Runs the embed stage for a thread, as its worker does after a wake-up. */
export async function index(
  database: TestStore,
  { project = PROJECT_NAME, thread }: Place,
  embedder: Embedder = createHashingEmbedder(),
): Promise<void> {
  const projectId = projectIdOf(project)
  const job = {
    payload: { projectId, threadId: threadIdOf(projectId, thread) },
    jobId: newId(),
    attempt: 1,
    attemptsMax: 5,
    signal: new AbortController().signal,
  }
  await embed(job, {
    store: database.store,
    embedder,
    settings: {},
    log: { info: () => {} },
    clock: { nowMs: () => 0 },
  })
}

/** Stores messages and indexes them for search. */
export async function said(database: TestStore, place: Place, messages: readonly PreparedMessage[]): Promise<void> {
  await store(database, place, messages)
  await index(database, place)
}
