import type { ContextResult } from '@heddle/contracts'
import {
  type BuildInput,
  buildContext,
  type ContextLines,
  contextDigest,
  digestedParts,
  type ElementDigests,
  KnownLines,
  type LineCache,
  type Message,
  nameTexts,
  type RenderedPart,
  ThreadTexts,
  toLines,
} from '@heddle/core'
import { isOfOthers } from '../load/scope.js'

/**
 * Builds contexts from loaded inputs. The same input always gives the same context, so a cached input is built only once.
 */
export class ContextMaker {
  readonly #made = new WeakMap<BuildInput, MadeContext>()
  /** By the first message of a thread as it was read, which those that are read later follow. */
  readonly #forms = new WeakMap<Message, KnownForms>()

  /** @throws PermanentError as `buildContext` */
  make(input: BuildInput): MadeContext {
    const known = this.#made.get(input)
    if (known !== undefined) return known
    const made = new MadeContext(input, this.#formsOf(input))
    this.#made.set(input, made)
    return made
  }

  #formsOf({ messages: [first] }: BuildInput): KnownForms {
    const forms = (first && this.#forms.get(first)) ?? new KnownForms()
    if (first !== undefined) this.#forms.set(first, forms)
    return forms
  }
}

/**
 * The stored forms of messages that several contexts share, because their thread only grew: kept as long as the messages. An
 * input that is read again has other messages.
 */
class KnownForms {
  readonly #parts = new WeakMap<BuildInput['count'], WeakMap<object, RenderedPart>>()
  readonly lines: LineCache = new WeakMap()
  readonly digests: ElementDigests = new WeakMap()
  readonly texts = new ThreadTexts()

  partsBy(count: BuildInput['count']): WeakMap<object, RenderedPart> {
    const parts = this.#parts.get(count) ?? new WeakMap<object, RenderedPart>()
    this.#parts.set(count, parts)
    return parts
  }
}

export class MadeContext {
  readonly built: Omit<ContextResult, 'id'>
  /** Parts in the order in which a provider reads them, with digests in place of texts. */
  readonly parts: readonly RenderedPart[]
  readonly #input: BuildInput
  readonly #known: KnownForms
  #lines: { readonly variant: string; readonly lines: ContextLines } | null = null
  #json: { readonly variant: string; readonly json: string } | null = null

  constructor(input: BuildInput, known: KnownForms) {
    this.#input = input
    this.#known = known
    this.built = buildContext(input)
    this.parts = digestedParts(this.built, input.count, known.partsBy(input.count))
  }

  digestOf(result: ContextResult): string {
    return contextDigest(result, this.#known.digests)
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
    if (this.#lines?.variant !== variant)
      this.#lines = { variant, lines: linesOf(result, this.#input, isAbout, this.#known) }
    return this.#lines.lines
  }
}

/** Differences between contexts of the same input: the prefix shared with the previous one, and the embedder of its items. */
function variantOf({ receipt: { sharedPrefixTokens, embedder } }: Pick<ContextResult, 'receipt'>): string {
  return JSON.stringify([sharedPrefixTokens, embedder])
}

function linesOf(
  result: ContextResult,
  input: BuildInput,
  isAbout: (text: string) => boolean,
  { lines, texts }: KnownForms,
): ContextLines {
  const { request, messages, agent } = input
  // A context with messages of other threads is erased with them as a whole.
  const isMultiThread = isOfOthers(request)
  if (isMultiThread) return toLines(result, nameTexts(new ThreadTexts(), agent, request), () => true)
  texts.update(messages)
  return toLines(result, nameTexts(texts, agent, request), isAbout, new KnownLines(lines, texts.seqs))
}
