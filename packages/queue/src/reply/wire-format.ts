import { createHash } from 'node:crypto'
import { eventSchema, type HeddleEvent, type Reply, replySchema } from '@heddle/contracts'
import { bounds } from '../base/bounds.js'
import type { Answer } from '../worker/outcome.js'

/** The channel of a process's replies. Postgres allows 63 bytes; prefixes have at most 40. */
export function replyChannel(prefix: string, inbox: string): string {
  return `${prefix}_r_${inbox}`
}

/** The channel on which processes report the open jobs of their projects. */
export function loadChannel(prefix: string): string {
  return `${prefix}_load`
}

/** The channel on which processes report the work of their workers. */
export function poolChannel(prefix: string): string {
  return `${prefix}_pool`
}

/** The channel of a project's events. The id is hashed, because a prefix and a whole id are too long for Postgres. */
export function eventChannel(prefix: string, projectId: string): string {
  return `${prefix}_e_${createHash('sha256').update(projectId).digest('hex').slice(0, 16)}`
}

/** Whether an answer has at most `bytesMax` bytes within a reply. */
export function isAnswerWithin(answer: Answer, bytesMax: number): boolean {
  return typeof answer === 'string' ? isTextWithin(answer, bytesMax) : Math.ceil(answer.length / 3) * 4 <= bytesMax
}

const BYTES_PER_CHARACTER_MAX = 3

/** Whether a text has at most `bytesMax` bytes. Its bytes are counted only if its length does not decide it. */
export function isTextWithin(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return false
  return text.length * BYTES_PER_CHARACTER_MAX <= bytesMax || Buffer.byteLength(text) <= bytesMax
}

/** A reply with its answer as a receiver in another process would get it: a copy. */
export function withAnswer(reply: Reply, answer: Answer | undefined): Reply {
  if (answer === undefined) return reply
  return { ...reply, answer: typeof answer === 'string' ? JSON.parse(answer) : base64(answer) }
}

/** A reply as text. The answer, which is JSON already, is inserted without encoding it again. */
export function encodeReply(reply: Reply, answer?: Answer): string {
  const text = encodeBare(reply)
  if (answer === undefined) return text
  return `${text.slice(0, -1)},"answer":${typeof answer === 'string' ? answer : `"${base64(answer)}"`}}`
}

function base64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

/** Cuts a reply to the size of a notification: first the facts are dropped, then the end of the text. */
function encodeBare(reply: Reply): string {
  const text = JSON.stringify(reply)
  if (reply.error === undefined || fits(text)) return text
  const { facts: _facts, received: _received, ...error } = reply.error
  const withoutFacts = JSON.stringify({ ...reply, error })
  if (fits(withoutFacts)) return withoutFacts
  // A character has at most 6 bytes in JSON, so these two always fit.
  const shorter = {
    code: error.code,
    detail: error.detail.slice(0, 1_000),
    ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
  }
  return JSON.stringify({ ...reply, error: shorter })
}

export function encodeEvent(event: HeddleEvent): string {
  return JSON.stringify(event)
}

/** Parses a list of events; malformed ones are left out. */
export function decodeEvents(text: string): HeddleEvent[] {
  return decodeList(text, eventSchema)
}

/** Parses a list of replies; malformed ones are left out. */
export function decodeReplies(text: string): Reply[] {
  return decodeList(text, { safeParse: (each) => (isDone(each) ? { data: each } : replySchema.safeParse(each)) })
}

/** A cheap check of the most frequent reply, of which thousands arrive in a second: success without an answer. */
function isDone(value: unknown): value is Reply {
  if (value === null || typeof value !== 'object') return false
  const { requestId, ok } = value as Partial<Reply>
  return ok === true && typeof requestId === 'string' && UUID.test(requestId) && Object.keys(value).length === 2
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function decodeList<Item>(text: string, schema: { safeParse(value: unknown): { data?: Item | undefined } }): Item[] {
  try {
    const list: unknown = JSON.parse(text)
    if (!Array.isArray(list)) return []
    return list.flatMap((each) => schema.safeParse(each).data ?? [])
  } catch {
    return []
  }
}

function fits(text: string): boolean {
  return isTextWithin(text, bounds.messageBytesMax)
}
