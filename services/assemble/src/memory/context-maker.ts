import type { ContextResult } from '@heddle/contracts'
import {
  type BuildInput,
  buildContext,
  type ContextLines,
  fingerprint,
  nameTexts,
  type RenderedPart,
  renderedParts,
  toLines,
} from '@heddle/core'
import { isOfOthers } from '../load/scope.js'

/**
 * Makes contexts of what was loaded. The same input always makes the same context, so one that a worker keeps is made into
 * one once, for as long as it is kept.
 */
export class ContextMaker {
  readonly #made = new WeakMap<BuildInput, MadeContext>()

  /** @throws PermanentError as `buildContext` */
  make(input: BuildInput): MadeContext {
    const known = this.#made.get(input)
    if (known !== undefined) return known
    const made = new MadeContext(input)
    this.#made.set(input, made)
    return made
  }
}

export class MadeContext {
  readonly built: Omit<ContextResult, 'id'>
  /** As a provider reads it; digests stand for texts. */
  readonly parts: readonly RenderedPart[]
  readonly #input: BuildInput
  #lines: { readonly variant: string; readonly lines: ContextLines } | null = null
  #json: { readonly variant: string; readonly json: string } | null = null

  constructor(input: BuildInput) {
    this.#input = input
    this.built = buildContext(input)
    this.parts = digested(renderedParts(this.built, input.count))
  }

  /** As it is delivered. */
  jsonOf({ id, ...result }: ContextResult): string {
    const variant = variantOf(result)
    if (this.#json?.variant !== variant) this.#json = { variant, json: JSON.stringify(result) }
    return `{"id":${JSON.stringify(id)},${this.#json.json.slice(1)}`
  }

  /**
   * The lines as which it is stored.
   *
   * @param isAbout says of a text whether it tells of other threads, as for `toLines`
   */
  linesOf(result: ContextResult, isAbout: (text: string) => boolean): ContextLines {
    const variant = variantOf(result)
    if (this.#lines?.variant !== variant) this.#lines = { variant, lines: linesOf(result, this.#input, isAbout) }
    return this.#lines.lines
  }
}

/** Parts are only compared, and kept for long: a digest says as well whether two of them are the same. */
function digested(parts: readonly RenderedPart[]): RenderedPart[] {
  return parts.map(({ text, tokens }) => ({ text: fingerprint(text), tokens }))
}

/** By what contexts that were made of the same differ: what they share with the one before them, and who chose their items. */
function variantOf({ receipt: { sharedPrefixTokens, embedder } }: Pick<ContextResult, 'receipt'>): string {
  return JSON.stringify([sharedPrefixTokens, embedder])
}

function linesOf(result: ContextResult, input: BuildInput, isAbout: (text: string) => boolean): ContextLines {
  const { request, messages, agent } = input
  // What shows messages of other threads goes with them as a whole.
  const isWoven = isOfOthers(request)
  return toLines(result, nameTexts(isWoven ? [] : messages, agent, request), (text) => isWoven || isAbout(text))
}
