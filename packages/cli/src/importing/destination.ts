import { continueGrown, continueGrownIn, type EarlierForm } from '@heddle/client'
import type { RemoteClient } from '@heddle/client/http'
import { HeddleError, limits, type MessageInput } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import type { Engine } from '../engine.js'

/** Where sessions go: into a store of one's own, or through a gateway. */
export interface Destination {
  append(thread: string, messages: readonly MessageInput[], options: SendOptions): Promise<Sent>
  overview(thread: string): Promise<Overview>
}

/** How a thread stands once its session is stored. */
export interface Overview {
  readonly eligible: number
  readonly imported: number
  readonly warnings: readonly string[]
}

export interface SendOptions {
  readonly agent: string
  readonly newAgentRollingWindow: number | null
  readonly onProgress: (stored: number) => void
}

export interface Sent {
  readonly stored: number
  readonly repeated: number
  readonly grown: number
}

/** A long session through few workers. */
const APPEND_DEADLINE_MS = 600_000

export function storeDestination(engine: Pick<Engine, 'client' | 'store' | 'projectId'>): Destination {
  return {
    async append(thread, messages, options) {
      const { grown, messages: sent } = await continueGrown(engine, threadIdOf(engine.projectId, thread), messages)
      const append = { ...options, thread, messages: sent, ack: 'stored', deadlineMs: APPEND_DEADLINE_MS } as const
      return { ...(await engine.client.messages.append(append)), grown }
    },
    overview: (thread) => engine.client.threads.get(thread),
  }
}

/** @param projectId of the ids of what has none; those of messages come with them */
export function gatewayDestination(client: RemoteClient, projectId: string): Destination {
  return {
    async append(thread, messages, { agent, newAgentRollingWindow, onProgress }) {
      const deadlineMs = APPEND_DEADLINE_MS
      const send = async (some: readonly MessageInput[]) =>
        await client.messages.append({ agent, thread, messages: some, newAgentRollingWindow, deadlineMs, onProgress })
      try {
        return { ...(await send(messages)), grown: 0 }
      } catch (error) {
        // A reply that was still being written when it was sent last: only then is the history looked at.
        if (!(error instanceof HeddleError) || error.code !== 'CONFLICT') throw error
        const history = await historyOf(client, thread)
        const continued = await continueGrownIn(history, threadIdOf(projectId, thread), messages)
        if (continued.grown === 0) throw error
        const dropped = messages.length - continued.messages.length
        const { stored, repeated } = await send(continued.messages)
        return { stored, repeated: repeated + dropped, grown: continued.grown - dropped }
      }
    },
    overview: (thread) => client.threads.get(thread),
  }
}

async function historyOf(client: RemoteClient, thread: string): Promise<ReadonlyMap<string, EarlierForm>> {
  const history = new Map<string, EarlierForm>()
  let cursor: string | null | undefined
  do {
    const page = await client.messages.list({ thread, limit: limits.pageItemsMax, ...(cursor && { cursor }) })
    for (const message of page.items) history.set(message.id, message)
    cursor = page.nextCursor
  } while (cursor !== null)
  return history
}
