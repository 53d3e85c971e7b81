import { hash } from 'node:crypto'
import type { JsonObject } from '@heddle/contracts'
import { LRUCache } from 'lru-cache'
import {
  afterRest,
  afterSpace,
  entriesIn,
  fieldsIn,
  JsonFault,
  jsonBytesOf,
  LIST,
  OBJECT,
  parseAt,
  type Span,
} from '../json/spans.js'
import { readAnthropicEntry } from './anthropic-entry.js'
import { canonicalEntry, estimateTextTokens, estimateValueTokens, isObject } from './blocks.js'
import type { Entry, EntryFacts, ReadEntry } from './entry.js'
import { KnownPrefixes } from './known-prefixes.js'
import { readChatEntry, readResponsesEntry } from './openai-entry.js'
import { fieldsOf, type Protocol } from './protocol.js'

/** A request for one reply, as far as its conversation is concerned. Positions are bytes of its body. */
export interface ProviderRequest {
  readonly protocol: Protocol
  /** As the caller wrote it; empty if it is missing. */
  readonly model: string
  readonly isStreamed: boolean
  /** The part before the conversation: tools and instructions. */
  readonly head: {
    readonly hash: string
    readonly tokens: number
    readonly cacheMarks: number
    readonly hasHourMark: boolean
    /** The list of tools; null if it is missing or empty. */
    readonly tools: Span | null
  }
  /** The fields of the body, and the places of their values. */
  readonly fields: readonly (Span & { readonly name: string })[]
  /** Null if the conversation is no list, so that nothing in it can be replaced. */
  readonly list: Span | null
  readonly entries: readonly Entry[]
  /** Whether the provider keeps or shortens the conversation by itself; nothing is then replaced. */
  readonly isOwnedByProvider: boolean
}

const readers: Readonly<Record<Protocol, (value: JsonObject) => ReadEntry>> = {
  anthropic: readAnthropicEntry,
  'openai-chat': readChatEntry,
  'openai-responses': readResponsesEntry,
}

/** Entries whose facts are kept: those of about a hundred long conversations. */
const FACTS_MAX = 50_000

/**
 * Reads requests. A conversation is sent again with every request, so what was read of its beginning is found by its bytes. After
 * a change, the facts of an entry are found by the bytes of the entry. Only new entries are parsed.
 */
export class RequestReader {
  readonly #prefixes: KnownPrefixes
  readonly #facts = new LRUCache<string, EntryFacts>({ max: FACTS_MAX })

  constructor(prefixes = new KnownPrefixes()) {
    this.#prefixes = prefixes
  }

  /** Null if the body is not a request of the protocol; the provider is the one to say so. */
  read(protocol: Protocol, body: Uint8Array): ProviderRequest | null {
    try {
      return this.#read(protocol, body)
    } catch (error) {
      // A RangeError: nested too deeply to be read.
      if (error instanceof JsonFault || error instanceof SyntaxError || error instanceof RangeError) return null
      throw error
    }
  }

  #read(protocol: Protocol, body: Uint8Array): ProviderRequest | null {
    const bytes = jsonBytesOf(body)
    const start = afterSpace(bytes, 0)
    if (body[start] !== OBJECT) return null
    const { list: listName, head, own } = fieldsOf[protocol]
    const object = { from: start, to: lastByte(body) + 1 }
    const { known, hashes } = this.#prefixes.find(protocol, body)
    const names = new Map(known?.fields)
    let fieldsBefore = known?.fields ?? []
    let list: Span | null = null
    let entries: readonly Entry[] | null = []
    const last = known?.entries.at(-1)
    if (known !== null && last !== undefined) {
      list = { from: known.list, to: afterRest(bytes, last.to, object.to) }
      entries = this.#entries(protocol, body, list, known.entries)
      names.set(listName, list)
    }
    for (const { name: quoted, value } of fieldsIn(bytes, object, list?.to)) {
      const name = parseAt(body, quoted) as string
      if (name === listName) {
        list = body[value.from] === LIST ? value : null
        fieldsBefore = [...names]
        entries = list === null ? [] : this.#entries(protocol, body, list, [])
      }
      names.set(name, value)
    }
    if (entries === null) return null
    if (list !== null) this.#prefixes.add(hashes, { fields: fieldsBefore, list: list.from, entries })
    const field = (name: string): unknown => {
      const span = names.get(name)
      return span === undefined ? undefined : parseAt(body, span)
    }
    const headOf = this.#head(
      head.map((name) => [name, names.get(name)] as const),
      body,
    )
    const model = field('model')
    return {
      protocol,
      model: typeof model === 'string' ? model : '',
      isStreamed: field('stream') === true,
      head: headOf,
      fields: [...names].map(([name, { from, to }]) => ({ name, from, to })),
      list,
      entries,
      isOwnedByProvider:
        own.some((name) => names.has(name) && field(name) !== null) ||
        entries.some(({ isOwnCompaction }) => isOwnCompaction),
    }
  }

  #head(fields: readonly (readonly [string, Span | undefined])[], body: Uint8Array): ProviderRequest['head'] {
    let chain = ''
    let tokens = 0
    let cacheMarks = 0
    let hasHourMark = false
    let tools: Span | null = null
    for (const [name, span] of fields) {
      if (span === undefined) continue
      const facts = this.#factsOf(name, body.subarray(span.from, span.to), () => ({ ...NO_ENTRY }))
      chain = digest(`${chain} ${name} ${facts.hash}`)
      tokens += facts.tokens
      cacheMarks += facts.cacheMarks
      hasHourMark ||= facts.hasHourMark
      if (name === 'tools' && span.to - span.from > 2) tools = span
    }
    return { hash: chain, tokens, cacheMarks, hasHourMark, tools }
  }

  /** The entries of a list, of which the first ones may be known. Null if one of them is no object. */
  #entries(protocol: Protocol, body: Uint8Array, list: Span, known: readonly Entry[]): readonly Entry[] | null {
    const entries = [...known]
    const seen = new Map<string, number>()
    for (const { hash, occurrence } of known) seen.set(hash, occurrence + 1)
    const last = known.at(-1)
    let chain = last?.chain ?? ''
    for (const { from, to } of entriesIn(jsonBytesOf(body), list, last?.to)) {
      if (body[from] !== OBJECT) return null
      const facts = this.#factsOf(protocol, body.subarray(from, to), readers[protocol])
      const occurrence = seen.get(facts.hash) ?? 0
      seen.set(facts.hash, occurrence + 1)
      chain = digest(`${chain} ${facts.hash}`)
      entries.push({ ...facts, index: entries.length, from, to, chain, occurrence })
    }
    return entries
  }

  #factsOf(kind: string, bytes: Uint8Array, read: (value: JsonObject) => ReadEntry): EntryFacts {
    const key = `${kind} ${digest(bytes)}`
    const known = this.#facts.get(key)
    if (known !== undefined) return known
    const value: unknown = parseAt(bytes, { from: 0, to: bytes.length })
    const wrapped = isObject(value) ? value : { content: value as JsonObject[string] }
    const { text, cacheMarks, hasHourMark } = canonicalEntry(wrapped)
    const { results, ...facts } = read(wrapped)
    const made = {
      ...facts,
      hash: digest(text),
      tokens: estimateValueTokens(value),
      cacheMarks,
      hasHourMark,
      results: results.map(({ path, callId, text: said }) => ({ path, callId, tokens: estimateTextTokens(said) })),
    }
    this.#facts.set(key, made)
    return made
  }
}

/** The facts of a field of the head, which is no entry. */
const NO_ENTRY: ReadEntry = {
  kind: 'instruction',
  calls: [],
  resultIds: [],
  isBoundToNext: false,
  isOwnCompaction: false,
  results: [],
}

/** The value of an entry, and the results in it whose text may be replaced. */
export function readEntryAt(
  { protocol, entries }: ProviderRequest,
  body: Uint8Array,
  index: number,
): { readonly value: JsonObject; readonly results: ReadEntry['results'] } {
  const value = parseAt(body, entries[index] as Span) as JsonObject
  return { value, results: readers[protocol](value).results }
}

/** Position of the last byte that is no white space. */
function lastByte(body: Uint8Array): number {
  let place = body.length - 1
  while (place > 0 && (body[place] as number) <= 0x20) place--
  return place
}

/** Short enough to keep hundreds for a conversation; 96 bits. */
function digest(value: string | Uint8Array): string {
  return hash('sha256', value, 'base64url').slice(0, 16)
}
