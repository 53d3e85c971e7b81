import { type DraftMessage, type JsonObject, type MessageDraft, readOpenAiMessage } from '@heddle/client/forms'
import { messageFingerprint, NIL_ID } from '@heddle/core'
import { HashTable } from '../hash-table.js'
import type { Draft, Reading } from '../parsed.js'
import { Occurrences, type Said } from './occurrences.js'
import { threadSuffix } from './thread-suffix.js'

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
 * replied, or the newest messages alone. A message is known by its contents, and its number among equal ones of its thread.
 */
export function readModelCalls(calls: Iterable<ModelCall>): Reading {
  const threads = new Map<string, Occurrences>()
  const names: string[] = []
  const counts = new HashTable()
  const occurrencesOf = (thread: string): Occurrences => {
    const known = threads.get(thread) ?? new Occurrences(counts, names.push(thread) - 1)
    threads.set(thread, known)
    return known
  }
  function* drafts(): Generator<Draft> {
    for (const call of calls) {
      const occurrences = occurrencesOf(call.thread)
      const said = messagesOf(call).map((message, index) => ({
        message,
        ...saidOf(message, index >= call.given.length),
      }))
      for (const [index, occurrence] of occurrences.next(said).entries()) {
        const found = said[index]
        if (occurrence === null || found === undefined) continue
        const message = { ...found.message, identity: `${found.hash}-${occurrence}` }
        yield { thread: occurrences.thread, message }
      }
    }
  }
  // The first has the name of its file, also once the file has grown by further ones.
  return { drafts: drafts(), suffixOf: (thread) => (thread === 0 ? null : threadSuffix(names[thread] ?? '')) }
}

function saidOf({ input }: DraftMessage, isReply: boolean): Said {
  const isOnce = input.role === 'system' || input.toolCallId !== undefined
  return { hash: contentHash(input), isReply, isOnce, isAssistant: input.role === 'assistant' }
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
