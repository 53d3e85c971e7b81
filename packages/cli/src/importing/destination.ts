import type { RemoteClient } from '@heddle/client/http'
import { HeddleError, limits, type MessageInput } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { continuationIdOf, continueGrown, continueGrownIn, type EarlierForm, refuseChanged } from '@heddle/engine'
import type { Engine } from '@heddle/host'
import { loadThread } from '@heddle/store'

/** The target of an import: the store on this machine, or a gateway. */
export interface Destination {
  /** Appends a part of a session; its parts are sent one after the other. */
  append(thread: string, messages: readonly MessageInput[], options: SendOptions): Promise<Sent>
  /** Whether a thread exists already; its stored messages may differ from those of the file. */
  holds(thread: string): Promise<boolean>
  /** @throws ConflictError if a part of a session conflicts with stored messages, before anything of the session is sent */
  compare(thread: string, messages: readonly MessageInput[]): Promise<void>
  overview(thread: string): Promise<Overview>
}

/** State of a thread once its session is stored. */
export interface Overview {
  readonly eligible: number
  readonly imported: number
  readonly warnings: readonly string[]
}

export interface SendOptions {
  readonly agent: string
  readonly newAgentRollingWindow: number | null
  /** Not the first part of its session. */
  readonly continues: boolean
  readonly onProgress: (stored: number) => void
}

export interface Sent {
  readonly stored: number
  readonly repeated: number
  readonly grown: number
}

/** Enough for a long session with few workers. */
const APPEND_DEADLINE_MS = 600_000

export function storeDestination(engine: Pick<Engine, 'client' | 'store' | 'projectId'>): Destination {
  return {
    async append(thread, messages, options) {
      const { grown, messages: sent } = await continueGrown(engine, threadIdOf(engine.projectId, thread), messages)
      const append = { ...options, thread, messages: sent, ack: 'stored', deadlineMs: APPEND_DEADLINE_MS } as const
      return { ...(await engine.client.messages.append(append)), grown }
    },
    async holds(thread) {
      const { store, projectId } = engine
      return (
        (await store.inProject(projectId, (tx) => loadThread(tx, { threadId: threadIdOf(projectId, thread) }))) !== null
      )
    },
    compare: (thread, messages) => refuseChanged(engine, threadIdOf(engine.projectId, thread), messages),
    overview: (thread) => engine.client.threads.get(thread),
  }
}

/** @param projectId for the ids of threads, which are derived from it and the thread's name */
export function gatewayDestination(client: RemoteClient, projectId: string): Destination {
  return {
    async append(thread, messages, { agent, newAgentRollingWindow, onProgress }) {
      const deadlineMs = APPEND_DEADLINE_MS
      const send = async (some: readonly MessageInput[]) =>
        await client.messages.append({ agent, thread, messages: some, newAgentRollingWindow, deadlineMs, onProgress })
      try {
        return { ...(await send(messages)), grown: 0 }
      } catch (error) {
        // The conflict may be a reply that was incomplete at the last import; only then the history is read.
        if (!(error instanceof HeddleError) || error.code !== 'CONFLICT') throw error
        const history = await historyOf(client, { thread, threadId: threadIdOf(projectId, thread), messages })
        const continued = await continueGrownIn(history, threadIdOf(projectId, thread), messages)
        if (continued.grown === 0) throw error
        const dropped = messages.length - continued.messages.length
        const { stored, repeated } = await send(continued.messages)
        return { stored, repeated: repeated + dropped, grown: continued.grown - dropped }
      }
    },
    // The history of a gateway is read only after it has refused a message.
    holds: async () => false,
    compare: async () => {},
    overview: (thread) => client.threads.get(thread),
  }
}

/** The stored versions of some messages, and their continuations. */
async function historyOf(
  client: RemoteClient,
  { thread, threadId, messages }: { thread: string; threadId: string; messages: readonly MessageInput[] },
): Promise<ReadonlyMap<string, EarlierForm>> {
  const history = new Map<string, EarlierForm>()
  const continuation = (id: string, count: number) => ({ id: continuationIdOf(threadId, id, count), of: id, count })
  const replies = messages.filter(({ role }) => role === 'assistant')
  const wanted = new Set(replies.map(({ id }) => id))
  const continuations = new Map(replies.map(({ id }) => continuation(id, 1)).map((next) => [next.id, next]))
  let cursor: string | null | undefined
  do {
    const page = await client.messages.list({ thread, limit: limits.pageItemsMax, ...(cursor && { cursor }) })
    for (const message of page.items) {
      const known = continuations.get(message.id)
      if (known === undefined && !wanted.has(message.id)) continue
      history.set(message.id, message)
      if (known === undefined) continue
      const next = continuation(known.of, known.count + 1)
      continuations.set(next.id, next)
    }
    cursor = page.nextCursor
  } while (cursor !== null)
  return history
}
