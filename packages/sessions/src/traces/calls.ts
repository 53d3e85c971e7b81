import { type DraftMessage, type JsonObject, type MessageDraft, readOpenAiMessage } from '@heddle/client/forms'
import { messageFingerprint, NIL_ID } from '@heddle/core'
import { HashTable } from '../hash-table.js'
import type { Draft, Reading } from '../parsed.js'

/** A call of a model in a trace: all that it was given, and its reply, in the form of OpenAI's chat completions. */
export interface ModelCall {
  readonly place: string
  /** Of the conversation: calls of one thread repeat what was said before. */
  readonly thread: string
  readonly given: readonly JsonObject[]
  readonly replies: readonly JsonObject[]
  readonly startedAt: string | undefined
  readonly endedAt: string | undefined
  readonly model: string | undefined
  readonly usage: MessageDraft['usage'] | undefined
}

/**
 * The conversations in calls of models, each message once: a call is given what earlier ones of its thread were given and
 * replied. A message is known by its contents and how often the same call has the same before it.
 */
export function readModelCalls(calls: Iterable<ModelCall>): Reading {
  const threads = new Map<string, number>()
  const names: string[] = []
  function* drafts(): Generator<Draft> {
    const known = new HashTable()
    for (const call of calls) {
      const thread = threads.get(call.thread) ?? names.push(call.thread) - 1
      threads.set(call.thread, thread)
      const counts = new Map<string, number>()
      for (const [index, message] of messagesOf(call).entries()) {
        const hash = contentHash(message.input)
        const count = (counts.get(hash) ?? 0) + 1
        counts.set(hash, count)
        const identity = `${hash}-${count}`
        if (known.has(`${thread} ${identity}`)) continue
        known.set(`${thread} ${identity}`, index)
        yield { thread, message: { ...message, identity } }
      }
    }
  }
  return { drafts: drafts(), suffixOf: (thread) => (names.length > 1 ? (names[thread] ?? null) : null) }
}

function messagesOf({ place, given, replies, startedAt, endedAt, model, usage }: ModelCall): DraftMessage[] {
  const legacyCallIds = new Map<string, string>()
  return [...given, ...replies].map((value, index) => {
    const isReply = index >= given.length
    const { input } = readOpenAiMessage({ place, value }, index, legacyCallIds)
    const sentAt = isReply ? endedAt : startedAt
    return {
      place,
      input: {
        ...input,
        ...(sentAt !== undefined && { sentAt }),
        ...(isReply && model !== undefined && { model }),
        ...(isReply && index === given.length && usage !== undefined && { usage }),
      },
    }
  })
}

/** Of the contents only: a reply has a model and usage that the next call does not repeat. */
function contentHash({ role, content, parts, toolCalls, toolCallId }: MessageDraft): string {
  return messageFingerprint({
    id: NIL_ID,
    role,
    content,
    ...(parts !== undefined && { parts }),
    ...(toolCalls !== undefined && { toolCalls }),
    ...(toolCallId !== undefined && { toolCallId }),
  })
}
