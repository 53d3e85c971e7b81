import { countRenderedMessage, countSystem } from '../formats/counting.js'
import type { Rendered } from '../formats/format.js'
import { finish, type Pausable } from '../recall/steps.js'

/**
 * The smallest unit that a provider's prompt cache reuses: a message, or one block of a message made of blocks, since a
 * turn may grow by blocks.
 */
export interface RenderedPart {
  /** Its text without cache marks, which move from request to request and do not affect the prefix. */
  readonly text: string
  readonly tokens: number
}

/** The parts of a context in the order in which a provider reads them: the system prompt first. */
export function renderedParts(rendered: Rendered, count: (text: string) => number): RenderedPart[] {
  return finish(renderParts(rendered, count))
}

/** The same, yielding after each message. */
export function* renderParts(
  { system, messages }: Rendered,
  count: (text: string) => number,
): Pausable<RenderedPart[]> {
  const texts = typeof system === 'string' ? [system] : (system ?? []).map((block) => block.text)
  const parts = texts.map((text) => ({ text: `system ${text}`, tokens: countSystem(text, count) }))
  for (const message of messages) {
    const { content, ...rest } = message
    const pieces =
      Array.isArray(content) && content.length > 0 ? content.map((block) => ({ ...rest, content: [block] })) : [message]
    for (const piece of pieces) parts.push({ text: textOf(piece), tokens: countRenderedMessage(piece, count) })
    yield
  }
  return parts
}

/** A replacer function is slow, and most parts have no mark. */
function textOf(piece: object): string {
  const text = JSON.stringify(piece)
  if (!text.includes('"cache_control"')) return text
  return JSON.stringify(piece, (key, value: unknown) => (key === 'cache_control' ? undefined : value))
}

/** Tokens of the parts with which both contexts begin, which a provider can read from its cache. */
export function sharedPrefixTokens(before: readonly RenderedPart[], after: readonly RenderedPart[]): number {
  let tokens = 0
  for (const [index, part] of before.entries()) {
    if (after[index]?.text !== part.text) break
    tokens += part.tokens
  }
  return tokens
}
