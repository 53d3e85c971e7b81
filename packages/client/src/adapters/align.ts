import type { MessageEntry } from '@heddle/contracts'
import { v5 } from 'uuid'
import type { MessageDraft } from '../forms/message-draft.js'

const NAMESPACE = '0b9b8a4e-6a3c-5d5e-9c86-4c2f6d0b7a55'

/** A message of the thread, as far as it is compared with a prompt. */
export interface Known {
  readonly id: string
  readonly said: string
  /** Its id in the framework, if that gives ids. */
  readonly sourceId?: string | undefined
}

type Said = Pick<MessageDraft | MessageEntry, 'role' | 'content' | 'toolCalls' | 'toolCallId'>

/** The compared part of a message: without reasoning and options, which a prompt need not repeat. */
export function saidIn({ role, content, toolCalls = [], toolCallId = '' }: Said): string {
  const calls = toolCalls.map(({ id, name, arguments: given }) => [id, name, sorted(parsed(given))])
  return JSON.stringify([role === 'tool_use' ? 'assistant' : role, content.trim(), calls, toolCallId])
}

function parsed(given: unknown): unknown {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  )
}

/** Messages at the end of a thread that have to agree; more would only repeat what these say. */
const AGREEING_MAX = 8

/**
 * The first message of a prompt that the thread does not have. A prompt may repeat the whole thread, begin within it, or hold
 * only what is new.
 *
 * @param tail the end of the thread, or all of it
 */
export function firstNew(prompt: readonly string[], tail: readonly Known[], isWhole: boolean): number {
  if (tail.length === 0) return 0
  if (isWhole && prompt.length >= tail.length && tail.every(({ said }, index) => prompt[index] === said)) {
    return tail.length
  }
  for (let end = prompt.length; end > 0; end--) {
    const count = Math.min(end, tail.length, AGREEING_MAX)
    let agreeing = 0
    while (agreeing < count && prompt[end - 1 - agreeing] === tail[tail.length - 1 - agreeing]?.said) agreeing++
    if (agreeing === count) return end
  }
  // Only what is new: the words may have been said before, as "continue" is. A thread's first message is sent again by a retry.
  if (prompt.length === 1) return isWhole && tail[0]?.said === prompt[0] ? 1 : 0
  // The application changed a message: what comes after the last one that is known is new.
  const known = new Set(tail.map(({ said }) => said))
  return prompt.findLastIndex((said) => known.has(said)) + 1
}

/**
 * The same for a prompt whose messages have ids of their framework: what follows the last known one is new. Null if no id is
 * known and the prompt may repeat messages under other ids.
 */
export function firstUnknown(prompt: readonly Omit<Known, 'id'>[], tail: readonly Known[]): number | null {
  // Some servers give every reply the same id.
  const identify = ({ sourceId, said }: Omit<Known, 'id'>) => (sourceId === undefined ? null : `${sourceId} ${said}`)
  const known = new Set(tail.map(identify))
  const last = prompt.map(identify).findLastIndex((identity) => identity !== null && known.has(identity))
  if (last >= 0) return last + 1
  return prompt.length === 1 && prompt[0]?.sourceId !== undefined ? 0 : null
}

/** The id of a message that follows another: the same each time it is derived, and another where the same is said again. */
export function nextId(thread: string, previous: string | null, said: string): string {
  return v5(`${thread} ${previous ?? ''} ${said}`, NAMESPACE)
}
