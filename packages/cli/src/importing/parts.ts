import type { MessageInput } from '@heddle/contracts'
import type { PlannedFile, ThreadPlan } from './plan.js'

/** Most messages of a part. */
export const PART_MESSAGES_MAX = 500
/** Most JSON characters of a part. */
export const PART_CHARACTERS_MAX = 1_000_000
/** Most JSON characters held for all threads of a file together. */
const HELD_CHARACTERS_MAX = 2_000_000

/** Messages that follow each other in a thread. */
export interface Part {
  readonly thread: ThreadPlan
  readonly messages: readonly MessageInput[]
}

interface Held {
  readonly messages: MessageInput[]
  characters: number
  /** Messages of the thread that were read, including the held ones. */
  read: number
}

/** Reads a file part by part; per thread, only the part being read is held. */
export function* partsIn(file: Pick<PlannedFile, 'messages'>): Generator<Part> {
  const held = new Map<ThreadPlan, Held>()
  let characters = 0
  function take(thread: ThreadPlan, of: Held): Part {
    characters -= of.characters
    of.characters = 0
    return { thread, messages: of.messages.splice(0) }
  }
  for (const { thread, message } of file.messages()) {
    const of = held.get(thread) ?? { messages: [], characters: 0, read: 0 }
    held.set(thread, of)
    const size = JSON.stringify(message).length
    if (of.messages.length > 0 && of.characters + size > PART_CHARACTERS_MAX) yield take(thread, of)
    of.messages.push(message)
    of.characters += size
    of.read++
    characters += size
    if (of.messages.length >= PART_MESSAGES_MAX || of.read >= thread.messages) yield take(thread, of)
    if (of.read >= thread.messages) held.delete(thread)
    if (characters < HELD_CHARACTERS_MAX) continue
    for (const [other, rest] of held) if (rest.messages.length > 0) yield take(other, rest)
  }
  for (const [thread, rest] of held) if (rest.messages.length > 0) yield take(thread, rest)
}

/** Whether a thread of the file may need several parts. */
export function isLong({ bytes, threads }: Pick<PlannedFile, 'bytes' | 'threads'>): boolean {
  return bytes > PART_CHARACTERS_MAX / 2 || threads.some(({ messages }) => messages > PART_MESSAGES_MAX)
}
