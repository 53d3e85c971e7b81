import type { Message } from '../conversation/message.js'
import { functionWords, termsOf } from '../search/index.js'
import { namesItem } from './named-in-text.js'
import type { ShownItem } from './shown-item.js'
import { callNames } from './tool-names.js'

export interface AnsweredContext {
  readonly contextId: string
  readonly items: readonly ShownItem[]
  /** Texts of the request: words in them are no sign that an item was used. */
  readonly asked: readonly (string | null)[]
}

export type SpokenMessage = Pick<Message, 'role' | 'content' | 'toolCalls'>

/** Share of an item's distinctive words, within these bounds, that a message must contain to count as using it. */
const SHARE_OF_WORDS = 1 / 3
const WORDS_MIN = 2
const WORDS_MAX = 20
const REPLY_CHARACTERS_MAX = 50_000

/**
 * Finds which items of a context a message of its reply used.
 *
 * - A tool is used if it is called, by its name or as `server__name`.
 * - A rule or a reference is used if it is named (see `namesItem`), or if the message has a third of its distinctive
 *   words, 2 at least and 20 at most: words of its text that are not function words, not in another item of the
 *   context, and not in the request.
 *
 * Each message is judged independently, so the result does not depend on how many were read at once. Only visible use
 * is found: a rule such as "be brief" is obeyed without a trace.
 *
 * @returns ids, in the order of the items
 */
export function usedItems({ items, asked }: AnsweredContext, message: SpokenMessage): string[] {
  const called = new Set(message.toolCalls.map(({ name }) => name))
  const isReply = message.role === 'assistant' || message.role === 'tool_use'
  if (!isReply) return []
  const text = message.content.slice(0, REPLY_CHARACTERS_MAX)
  const isTold = text.trim() !== ''
  const said = new Set(isTold ? termsOf(text) : [])
  const words = isTold ? distinctiveWords(items, asked) : new Map<string, ReadonlySet<string>>()
  const names = callNames(items.filter(({ type }) => type === 'tool'))
  return items.flatMap((item) => {
    const isUsed =
      item.type === 'tool'
        ? (names.get(item.itemId) ?? []).some((name) => called.has(name))
        : isTold && (namesItem(text, item) || hasEnough(words.get(item.itemId) ?? new Set(), said))
    return isUsed ? [item.itemId] : []
  })
}

function hasEnough(words: ReadonlySet<string>, said: ReadonlySet<string>): boolean {
  const needed = Math.min(WORDS_MAX, Math.max(WORDS_MIN, Math.ceil(words.size * SHARE_OF_WORDS)))
  let found = 0
  for (const word of words) if (said.has(word)) found++
  return found >= needed
}

const commonTerms = new Set([...functionWords].flatMap((word) => [...termsOf(word)]))

/** For each rule and reference, the words that neither another item nor the request has. */
function distinctiveWords(
  items: readonly ShownItem[],
  asked: readonly (string | null)[],
): Map<string, ReadonlySet<string>> {
  const known = new Set(asked.flatMap((text) => [...termsOf(text ?? '')]))
  const words = new Map(
    items
      .filter(({ type }) => type !== 'tool')
      .map(({ itemId, name, text }) => [itemId, new Set(termsOf(`${name}\n${text}`))] as const),
  )
  const owners = new Map<string, number>()
  for (const own of words.values()) for (const word of own) owners.set(word, (owners.get(word) ?? 0) + 1)
  const isDistinctive = (word: string) => owners.get(word) === 1 && !known.has(word) && !commonTerms.has(word)
  return new Map([...words].map(([itemId, own]) => [itemId, new Set([...own].filter(isDistinctive))]))
}
