import { hash } from 'node:crypto'
import type { Epoch, Expansion, Stub } from '@heddle/contracts'
import type { Entry } from '../provider-requests/entry.js'
import type { RequestPlan } from '../provider-requests/plan-types.js'
import type { ProviderRequest } from '../provider-requests/read-request.js'
import { recalledReferences } from './recalled-references.js'

/*
 * A conversation is sent again with every request, so a record of a request that had all of it would grow with the square of
 * its length. A record is the difference to the request before it, made of references: to the stored messages of each
 * entry, and by their hashes to texts that were sent in place of others. The whole is put together when it is looked at.
 */

/** An entry of a request as it was received. */
export interface RecordedEntry {
  readonly kind: Entry['kind']
  /** Estimated. */
  readonly tokens: number
  readonly bytes: number
  /** Ids of the messages that it was stored as; empty for one that is not stored. */
  readonly messages: readonly string[]
}

/** A text that was sent in place of a result's. */
export interface RecordedStub extends Pick<Stub, 'entry' | 'result' | 'reference' | 'tokensBefore' | 'tokensAfter'> {
  /** Of the text. */
  readonly hash: string
  /** Of the result. */
  readonly messageId: string
}

/** A text that was sent in place of the entries before one, instructions at the beginning left alone. */
export interface RecordedCover {
  readonly from: number
  readonly to: number
  readonly hash: string
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** Calls of the proxy's own tool in a reply, which the client does not have; they were sent with its entry. */
export interface RecordedRecalls {
  readonly entry: number
  readonly references: readonly string[]
  readonly tokens: number
}

/** The fields of a body besides its conversation. */
export interface RecordedHead {
  /** Estimated. */
  readonly tokens: number
  /** Fields whose text is kept, under its hash; null for one that is too long. */
  readonly fields: readonly { readonly name: string; readonly bytes: number; readonly hash: string | null }[]
  /** Fields that are not kept, since they may identify or authorize somebody. */
  readonly omitted: number
}

/** The difference of a request to the one that it is based on. */
export interface RequestDelta {
  /** Entries at the beginning that are the same. */
  readonly keptEntries: number
  readonly entries: readonly RecordedEntry[]
  readonly stubs: readonly RecordedStub[]
  /** Stubs of the other request that this one was sent without, by entry and result. */
  readonly removedStubs: readonly (readonly [entry: number, result: number])[]
  readonly recalls: readonly RecordedRecalls[]
  readonly removedRecalls: readonly number[]
  readonly cover: RecordedCover | null
  /** Null if it is the same. */
  readonly head: RecordedHead | null
  /** Whether the proxy's own tool was added to the caller's. */
  readonly hasRecallTool: boolean
}

/** A text that requests refer to by its hash. */
export interface RecordedText {
  readonly hash: string
  readonly kind: 'head' | 'stub' | 'cover'
  readonly text: string
  /** The message that a stub stands for. */
  readonly messageId: string | null
  /** The context that a cover is from. */
  readonly contextId: string | null
}

/** The parts of a conversation's state that a record is compared with. */
export type RecordedBefore = Pick<Epoch, 'entries' | 'stubs' | 'expansions' | 'cover'>

export interface DeltaInput {
  readonly request: ProviderRequest
  readonly plan: Pick<RequestPlan, 'stubs' | 'cover' | 'expansions' | 'hasRecallTool'>
  /** The state after the request that this one is based on; null to repeat everything. */
  readonly before: RecordedBefore | null
  /** Null if it is that of the other request. */
  readonly head: RecordedHead | null
  /** The ids of the messages of an entry. */
  messagesOf(entry: number): readonly string[]
  /** The id of the message with the result of a call. */
  resultOf(callId: string): string
}

/** The record of a request, with the texts that it refers to for the first time. */
export function requestDelta({ request, plan, before, head, messagesOf, resultOf }: DeltaInput): {
  readonly delta: RequestDelta
  readonly texts: readonly RecordedText[]
} {
  const { entries } = request
  const keptEntries = before === null ? 0 : sharedPrefix(before.entries, entries)
  const earlier = new Map(before?.stubs.map((stub) => [placeOf(stub), stub]))
  const stubs = plan.stubs.filter((stub) => earlier.get(placeOf(stub))?.text !== stub.text)
  const places = new Set(plan.stubs.map(placeOf))
  const known = before?.expansions ?? []
  const expansions = plan.expansions.filter((each) => !known.some((other) => isSame(each, other)))
  const texts = stubs.map(({ text, callId }): RecordedText => {
    return { hash: textHash('stub', text), kind: 'stub', text, messageId: resultOf(callId), contextId: null }
  })
  const { cover } = plan
  const coverHash = cover === null ? '' : textHash('cover', cover.text)
  if (cover !== null && before?.cover?.text !== cover.text) {
    const contextId = cover.contextId ?? null
    texts.push({ hash: coverHash, kind: 'cover', text: cover.text, messageId: null, contextId })
  }
  const delta: RequestDelta = {
    keptEntries,
    entries: entries.slice(keptEntries).map(({ index, kind, tokens, from, to }) => {
      return { kind, tokens, bytes: to - from, messages: messagesOf(index) }
    }),
    stubs: stubs.map(({ entry, result, reference, tokensBefore, tokensAfter, text, callId }) => {
      const [sha, messageId] = [textHash('stub', text), resultOf(callId)]
      return { entry, result, reference, tokensBefore, tokensAfter, hash: sha, messageId }
    }),
    removedStubs: [...earlier].flatMap(([place, { entry, result }]) => (places.has(place) ? [] : [[entry, result]])),
    recalls: expansions.map((each) => {
      return { entry: each.entry, references: recalledReferences(each), tokens: each.tokens }
    }),
    removedRecalls: known
      .filter((each) => !plan.expansions.some((other) => isSame(each, other)))
      .map(({ entry }) => entry),
    cover:
      cover === null
        ? null
        : {
            from: Math.max(
              0,
              entries.findIndex(({ kind }) => kind !== 'instruction'),
            ),
            to: cover.to,
            hash: coverHash,
            tokensBefore: cover.tokensBefore,
            tokensAfter: cover.tokensAfter,
          },
    head,
    hasRecallTool: plan.hasRecallTool,
  }
  return { delta, texts }
}

/** A text's name: texts of two kinds have two, since they are erased by different rules. */
export function textHash(kind: RecordedText['kind'], text: string): string {
  return hash('sha256', `${kind} ${text}`, 'base64url').slice(0, 22)
}

function sharedPrefix(hashes: readonly string[], entries: readonly Entry[]): number {
  let shared = 0
  while (shared < hashes.length && entries[shared]?.hash === hashes[shared]) shared++
  return shared
}

function placeOf({ entry, result }: Pick<Stub, 'entry' | 'result'>): string {
  return `${entry} ${result}`
}

function isSame(one: Expansion, other: Expansion): boolean {
  return one.entry === other.entry && one.entries.join() === other.entries.join()
}
