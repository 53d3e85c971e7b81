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
 * Builds contexts from loaded inputs. The same input always gives the same context, so a cached input is built only once.
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
  /** Parts in the order in which a provider reads them, with digests in place of texts. */
  readonly parts: readonly RenderedPart[]
  readonly #input: BuildInput
  #lines: { readonly variant: string; readonly lines: ContextLines } | null = null
  #json: { readonly variant: string; readonly json: string } | null = null

  constructor(input: BuildInput) {
    this.#input = input
    this.built = buildContext(input)
    this.parts = digested(renderedParts(this.built, input.count))
  }

  /** JSON of the delivered context. */
  jsonOf({ id, ...result }: ContextResult): string {
    const variant = variantOf(result)
    if (this.#json?.variant !== variant) this.#json = { variant, json: JSON.stringify(result) }
    return `{"id":${JSON.stringify(id)},${this.#json.json.slice(1)}`
  }

  /**
   * The lines in which it is stored.
   *
   * @param isAbout whether a text is about other threads, as for `toLines`
   */
  linesOf(result: ContextResult, isAbout: (text: string) => boolean): ContextLines {
    const variant = variantOf(result)
    if (this.#lines?.variant !== variant) this.#lines = { variant, lines: linesOf(result, this.#input, isAbout) }
    return this.#lines.lines
  }
}

/** Parts are kept for long and only compared, so digests are enough. */
function digested(parts: readonly RenderedPart[]): RenderedPart[] {
  return parts.map(({ text, tokens }) => ({ text: fingerprint(text), tokens }))
}

/** Differences between contexts of the same input: the prefix shared with the previous one, and the embedder of its items. */
function variantOf({ receipt: { sharedPrefixTokens, embedder } }: Pick<ContextResult, 'receipt'>): string {
  return JSON.stringify([sharedPrefixTokens, embedder])
}

function linesOf(result: ContextResult, input: BuildInput, isAbout: (text: string) => boolean): ContextLines {
  const { request, messages, agent } = input
  // A context with messages of other threads is erased with them as a whole.
  const isMultiThread = isOfOthers(request)
  return toLines(
    result,
    nameTexts(isMultiThread ? [] : messages, agent, request),
    (text) => isMultiThread || isAbout(text),
  )
}
