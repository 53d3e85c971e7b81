import type { Cover, Epoch, EpochMarks, StoredEpoch, Stub } from '@heddle/contracts'
import { type ProviderRequest, type RequestReader, readEntryAt } from './read-request.js'
import { renderPlan } from './render.js'
import { stubText } from './stub-text.js'
import type { ReferenceOf } from './stubs.js'

/**
 * The state of a conversation outlives a process without the hashes of its entries and without the texts of its stubs: the next
 * request has the entries, and the chains of some of them say whether they are the same.
 */

/**
 * The places of a request by which a later one is compared with it.
 *
 * @param sent what was sent, read; the request itself if nothing was replaced
 */
export function marksOf(epoch: Epoch, request: ProviderRequest, sent: ProviderRequest): EpochMarks {
  return {
    received: { at: request.entries.length, chain: chainAt(request, request.entries.length) },
    sent: sent === request ? null : { at: sent.entries.length, chain: chainAt(sent, sent.entries.length) },
    ends: epoch.ends.map((at) => ({ at, chain: chainAt(request, at) })),
  }
}

/** An epoch as it is stored. */
export function storedEpochOf(epoch: Epoch, marks: EpochMarks): StoredEpoch {
  const { entries: _, sent: __, ends: ___, stubs, cover, expansions, ...figures } = epoch
  return {
    state: { ...figures, marks },
    stubs: stubs.map(({ text: ____, reference: _____, ...stub }) => stub),
    texts: cover === null && expansions.length === 0 ? null : { cover, expansions },
  }
}

export interface ResumedBy {
  readonly request: ProviderRequest
  readonly body: Uint8Array
  readonly reader: RequestReader
  readonly referenceOf: ReferenceOf
}

/**
 * The epoch that was stored, for the next request of its conversation. The bytes that were sent are made again from this request
 * and compared by their chain; if they are not the same, a new epoch begins.
 */
export function resumeEpoch({ state, stubs, texts }: StoredEpoch, by: ResumedBy): Epoch {
  const { marks, ...figures } = state
  const { request, body, reader } = by
  const shared = sharedWith(request, marks)
  const isWhole = shared === marks.received.at
  const hashes = request.entries.slice(0, shared).map(({ hash }) => hash)
  const epoch: Epoch = {
    ...figures,
    entries: isWhole ? hashes : [...hashes, UNKNOWN],
    sent: marks.sent === null ? null : [UNKNOWN],
    stubs: stubs.flatMap((stub) => (stub.entry < shared ? stubAgain(stub, by) : [])),
    cover: coverOf(request, texts?.cover ?? null, shared),
    expansions: texts?.expansions ?? [],
    ends: marks.ends.flatMap(({ at }) => (at <= shared ? [at] : [])),
  }
  if (marks.sent === null || !isWhole) return epoch
  const sent = reader.read(request.protocol, renderPlan(request, body, epoch))
  if (sent === null || chainAt(sent, marks.sent.at) !== marks.sent.chain) return restartedEpoch(epoch)
  return { ...epoch, sent: sent.entries.slice(0, marks.sent.at).map(({ hash }) => hash) }
}

/** An epoch of which nothing that was sent is known any more, so that the next request begins a new one with a cold cache. */
export function restartedEpoch(epoch: Epoch): Epoch {
  return {
    ...epoch,
    entries: [UNKNOWN],
    sent: [UNKNOWN],
    stubs: [],
    cover: null,
    expansions: [],
    ends: [],
    sentAtMs: 0,
  }
}

/** Equal to no hash. */
const UNKNOWN = ''

/** How many entries of a request are known to be those of the last one. */
function sharedWith(request: ProviderRequest, { received, ends }: EpochMarks): number {
  const isHere = ({ at, chain }: { at: number; chain: string }) => chainAt(request, at) === chain
  return isHere(received) ? received.at : (ends.findLast(isHere)?.at ?? 0)
}

/** The chain of the first entries of a request; empty for no entries, and for more than it has. */
function chainAt({ entries }: ProviderRequest, count: number): string {
  return entries[count - 1]?.chain ?? ''
}

function coverOf(request: ProviderRequest, cover: Cover | null, shared: number): Cover | null {
  return cover !== null && cover.to <= shared && chainAt(request, cover.to) === cover.chain ? cover : null
}

function stubAgain(stub: StoredEpoch['stubs'][number], { request, body, referenceOf }: ResumedBy): Stub[] {
  const place = readEntryAt(request, body, stub.entry).results[stub.result]
  if (place === undefined || place.callId !== stub.callId) return []
  const reference = referenceOf(stub.callId)
  const { tokensBefore, tokensKept: tokensMax } = stub
  return [{ ...stub, reference, text: stubText(place.text, { reference, tokensBefore, tokensMax }) }]
}
