import { v7 as uuid } from 'uuid'
import { conversationOf } from '../contexts/conversation.js'
import type { Ask } from './offered-load.js'
import { asksOf, type TenantNames } from './tenant.js'

/**
 * The interfaces that a project floods, one at a time. Those that write come last, because the work that they leave for the
 * workers does not belong to the cost of the others.
 */
export const doors = ['sse', 'search', 'recall', 'history', 'http', 'mcp', 'import'] as const
export type Door = (typeof doors)[number]
export const writingDoors: readonly Door[] = ['http', 'mcp', 'import']
/** Interfaces that refuse calls, where the retry delay of a caller matters. */
export const refusingDoors: readonly Door[] = ['sse', 'http', 'mcp', 'import']

export interface DoorNames extends TenantNames {
  /** A thread of many large messages. */
  readonly largeThread: string
  /** The reference of its largest message. */
  readonly largeRef: string
}

const MESSAGES_PER_IMPORT = 500
const HISTORY_LIMIT = 500
const RECALL_TOKENS = 500_000
/** How long a stream is read before it is closed and another one is opened. */
const STREAM_MS = 1_000

/** The calls that a project repeats at one interface. */
export function asksAt(door: Door, names: DoorNames): { next(): Ask; readonly acknowledged: string[] } {
  if (door === 'http') return asksOf(names)
  const acknowledged: string[] = []
  let asked = 0
  const asks: Record<Exclude<Door, 'http'>, () => Ask> = {
    mcp: () => toolCall(asked, names, acknowledged),
    sse: () => ({ path: '/v1/events?after=0', readForMs: STREAM_MS }),
    search: () => ({ path: '/v1/search', body: { query: questions[asked % questions.length], limit: 50 } }),
    recall: () => ({ path: '/v1/recall', body: recallOf(names) }),
    history: () => ({ path: `/v1/threads/${names.largeThread}/messages?limit=${HISTORY_LIMIT}` }),
    import: () => {
      const messages = conversationOf(MESSAGES_PER_IMPORT).map((message) => ({ ...message, id: uuid() }))
      const onDone = () => acknowledged.push(...messages.map(({ id }) => id))
      return { path: `/v1/threads/imported-${uuid()}/messages`, body: { agent: names.agent, messages }, onDone }
    },
  }
  const next = asks[door]
  return {
    next() {
      asked++
      return next()
    },
    acknowledged,
  }
}

/** The calls of the quiet project, alternating: appends, contexts and searches. */
export function quietAsks(names: TenantNames): { next(): Ask; readonly acknowledged: string[] } {
  const usual = asksOf(names)
  let asked = 0
  return {
    next() {
      asked++
      if (asked % 3 !== 0) return usual.next()
      return { kind: 'search', path: '/v1/search', body: { query: questions[asked % questions.length], limit: 10 } }
    },
    acknowledged: usual.acknowledged,
  }
}

/** A query of words that occur in the texts. */
const questions = ['deploy the worker', 'cache of the queue', 'error in the test', 'the file and its lines']

function recallOf({ largeThread, largeRef }: DoorNames) {
  return { ref: largeRef, thread: largeThread, maxTokens: RECALL_TOKENS }
}

function toolCall(asked: number, names: DoorNames, acknowledged: string[]): Ask {
  const { agent, thread, largeThread } = names
  const id = uuid()
  const message = { id, role: 'user', content: `question ${asked}` }
  const calls = [
    { name: 'build_context', arguments: { thread, message: `question ${asked}` } },
    { name: 'append_messages', arguments: { agent, thread: `appended-${uuid()}`, messages: [message] } },
    { name: 'search', arguments: { query: questions[asked % questions.length] } },
    { name: 'recall', arguments: recallOf(names) },
    { name: 'history', arguments: { thread: largeThread, limit: HISTORY_LIMIT } },
  ]
  const params = calls[asked % calls.length]
  const isAppend = params?.name === 'append_messages'
  return {
    path: '/mcp',
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: asked, method: 'tools/call', params },
    readRefusal,
    ...(isAppend && { onDone: () => acknowledged.push(id) }),
  }
}

/** A refused tool call says so in its result, for the model. */
function readRefusal(text: string): { retryAfter?: string } | null {
  const [, retryAfter] = /may work after (\d+) s/.exec(text) ?? []
  if (!text.includes('RATE_LIMITED')) return null
  return retryAfter === undefined ? {} : { retryAfter }
}
