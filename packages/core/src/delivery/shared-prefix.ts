import { fingerprint } from '../conversation/fingerprint.js'
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

/**
 * The same with the fingerprints of texts in place of the texts, for parts that are only compared. Those of messages that
 * several contexts share are made once.
 *
 * @param known of messages and blocks of earlier contexts, by the same counter
 */
export function digestedParts(
  { system, messages }: Rendered,
  count: (text: string) => number,
  known: WeakMap<object, RenderedPart>,
): RenderedPart[] {
  const digested = ({ text, tokens }: RenderedPart) => ({ text: fingerprint(text), tokens })
  const parts = renderedParts({ system, messages: [] }, count).map(digested)
  for (const message of messages) {
    for (const { piece, of } of piecesOf(message)) {
      const part = known.get(of) ?? digested(partOf(piece, count))
      known.set(of, part)
      parts.push(part)
    }
  }
  return parts
}

/** The same, yielding after each message. */
export function* renderParts(
  { system, messages }: Rendered,
  count: (text: string) => number,
): Pausable<RenderedPart[]> {
  const texts = typeof system === 'string' ? [system] : (system ?? []).map((block) => block.text)
  const parts = texts.map((text) => ({ text: `system ${text}`, tokens: countSystem(text, count) }))
  for (const message of messages) {
    for (const { piece } of piecesOf(message)) parts.push(partOf(piece, count))
    yield
  }
  return parts
}

/** The pieces of a message, each with the object that it is made of: a block has the role of its message in every context. */
function piecesOf(message: Rendered['messages'][number]): { readonly piece: object; readonly of: object }[] {
  const { content, ...rest } = message
  if (!Array.isArray(content) || content.length === 0) return [{ piece: message, of: message }]
  return content.map((block) => {
    const piece = { ...rest, content: [block] }
    return { piece, of: typeof block === 'object' && block !== null ? block : piece }
  })
}

function partOf(piece: object, count: (text: string) => number): RenderedPart {
  return { text: textOf(piece), tokens: countRenderedMessage(piece, count) }
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
