import { v7 as uuid } from 'uuid'
import { conversationOf } from '../contexts/conversation.js'
import type { Ask } from './offered-load.js'

/** The address at which a tenant builds and appends. */
export interface TenantNames {
  readonly agent: string
  /** The thread of its contexts. */
  readonly thread: string
}

const MESSAGES_PER_APPEND = 20

/** The calls of a tenant: appends to new threads, and contexts of one thread, alternating. */
export function asksOf({ agent, thread }: TenantNames): { next(): Ask; readonly acknowledged: string[] } {
  const acknowledged: string[] = []
  let asked = 0
  const append = (): Ask => {
    const messages = conversationOf(MESSAGES_PER_APPEND).map((message) => ({ ...message, id: uuid() }))
    const onDone = () => acknowledged.push(...messages.map(({ id }) => id))
    return { kind: 'append', path: `/v1/threads/appended-${uuid()}/messages`, body: { agent, messages }, onDone }
  }
  const build = (): Ask => ({
    kind: 'build',
    path: `/v1/threads/${thread}/contexts`,
    body: { message: `question ${asked}` },
  })
  return { next: () => (asked++ % 2 === 0 ? append() : build()), acknowledged }
}
