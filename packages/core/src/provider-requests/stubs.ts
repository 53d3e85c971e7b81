import type { Stub } from '@heddle/contracts'
import { estimateTextTokens } from './blocks.js'
import { type ProviderRequest, readEntryAt } from './read-request.js'
import { stubText } from './stub-text.js'

/** The reference under which the result of a call is recalled. */
export type ReferenceOf = (callId: string) => string

/** A result that is to be shortened. */
export interface Shortening {
  readonly entry: number
  /** Its position among the results of the entry that may be replaced. */
  readonly result: number
  readonly callId: string
  readonly tokensBefore: number
  /** Size of the lines that are to stand for it. */
  readonly tokensKept: number
}

/** Tools whose results are what was once left out. */
const RECALLS = /(?:^|_)(?:heddle_)?recall$/

export interface Sizes {
  /** Smaller results stay as they are. */
  readonly tokensMin: number
  readonly tokensKept: number
}

/** The large results of an entry; recalled ones stay, since they were asked for. */
export function shorteningsOf({ entries }: ProviderRequest, entry: number, sizes: Sizes): Shortening[] {
  const { tokensMin, tokensKept } = sizes
  return (entries[entry]?.results ?? []).flatMap(({ callId, tokens: tokensBefore }, result) => {
    if (tokensBefore < tokensMin || RECALLS.test(toolOf(entries, entry, callId))) return []
    return [{ entry, result, callId, tokensBefore, tokensKept }]
  })
}

/** Writes the texts that stand for results; a result that hardly gets shorter stays. */
export function writeStubs(
  request: ProviderRequest,
  body: Uint8Array,
  shortenings: readonly Shortening[],
  referenceOf: ReferenceOf,
): Stub[] {
  return shortenings.flatMap(({ entry, result, callId, tokensBefore, tokensKept }) => {
    const place = readEntryAt(request, body, entry).results[result]
    if (place === undefined) return []
    const reference = referenceOf(callId)
    const text = stubText(place.text, { reference, tokensBefore, tokensMax: tokensKept })
    const tokensAfter = estimateTextTokens(text)
    const stub = { entry, result, callId, reference, text, tokensBefore, tokensAfter, tokensKept }
    return tokensAfter * 2 > tokensBefore ? [] : [stub]
  })
}

/** The tool of a call, looked for from its result backwards. */
function toolOf(entries: ProviderRequest['entries'], from: number, callId: string): string {
  for (let index = from - 1; index >= 0; index--) {
    const call = entries[index]?.calls.find(({ id }) => id === callId)
    if (call !== undefined) return call.name
  }
  return ''
}
