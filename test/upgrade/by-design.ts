import { compareReadings, type Difference } from './compare.js'
import type { Readings } from './reading.js'

export interface Judged {
  /** Intended differences, counted by their reasons. */
  readonly meant: ReadonlyMap<string, number>
  readonly lost: readonly Difference[]
}

interface Design {
  readonly reason: string
  readonly asked: RegExp
  readonly place: RegExp
}

const MESSAGES = /^LIST \/v1\/threads\/[^/]+\/messages$/
const SEARCH = /^POST \/v1\/(archive\/)?search /

/** Values that depend on the time of reading, such as the last use of a key, are not stored data. */
const VOLATILE = /(^|\.)(requestId|accessCount|lastAccessedAt|lastUsedAt|hint)$/

const designs: readonly Design[] = [
  {
    reason: 'a restored message is counted once, where its copy was counted besides',
    asked: /^(GET \/v1\/threads\/[^/]+|LIST \/v1\/(threads|agents))$/,
    place: /(^|\.)(messages|imported|eligible|tokensEstimate|byRole\.\w+|toolCalls|toolResults)$/,
  },
  {
    reason: 'tokens of threads with reasoning are estimates until they are counted anew',
    asked: /^(LIST \/v1\/threads\/[^/]+\/messages|GET \/v1\/threads\/[^/]+|POST \/v1\/recall .*)$/,
    place: /(^|\.)(tokens|tokenCount)$/,
  },
]

/** Copies of messages that a restore of an earlier version stored, each with the id of its original. */
type Copies = ReadonlyMap<string, string>

interface Entry {
  readonly id?: string
  readonly messageId?: string
  readonly name?: string
  readonly text?: string
  readonly inWindow?: boolean
  readonly metadata?: { readonly restored?: { readonly message: string } }
}

/** Compares the answers of both versions, and separates intended differences from all others. */
export function judge(before: Readings, after: Readings): Judged {
  const copies = copiesIn(before)
  const meant = new Map<string, number>()
  const count = (reason: string) => meant.set(reason, (meant.get(reason) ?? 0) + 1)
  for (const _ of copies) count('a restored message is listed once, without the copy that was stored of it')
  const lost: Difference[] = []
  const pairs = [...before].map(([asked, value]) => adapt(asked, { before: value, after: after.get(asked) }, copies))
  const adapted = { before: new Map(pairs.map((pair) => pair.before)), after: new Map(pairs.map((pair) => pair.after)) }
  for (const difference of compareReadings(adapted.before, adapted.after)) {
    if (VOLATILE.test(difference.place)) continue
    const design = designs.find(({ asked, place }) => asked.test(difference.asked) && place.test(difference.place))
    if (design === undefined) lost.push(difference)
    else count(design.reason)
  }
  return { meant, lost }
}

function copiesIn(readings: Readings): Copies {
  const copies = new Map<string, string>()
  for (const [asked, value] of readings) {
    if (!MESSAGES.test(asked)) continue
    for (const { id = '', metadata } of value as Entry[])
      if (metadata?.restored !== undefined) copies.set(id, metadata.restored.message)
  }
  return copies
}

interface Pair {
  readonly before: unknown
  readonly after: unknown
}

/** Both answers in a form in which equality means that nothing was lost, whether copies exist or not. */
function adapt(
  asked: string,
  { before, after }: Pair,
  copies: Copies,
): { before: [string, unknown]; after: [string, unknown] } {
  const as = (left: unknown, right: unknown) => ({
    before: [asked, left] as [string, unknown],
    after: [asked, right] as [string, unknown],
  })
  if (after === undefined) return as(before, '(not answered)')
  if (MESSAGES.test(asked)) {
    const originals = new Set(copies.values())
    // A context shows the original again, at the place of its former copy.
    const shown = (entries: unknown) =>
      (entries as Entry[])
        .filter(({ id = '' }) => !copies.has(id))
        .map((entry) => (originals.has(entry.id ?? '') ? { ...entry, inWindow: true } : entry))
    return as(shown(before), shown(after))
  }
  if (asked === 'LIST /v1/archive') {
    // A condensed text that named the copy names the original; each reference is also recalled.
    const listed = (entries: unknown) =>
      (entries as Entry[])
        .filter(({ messageId = '' }) => !copies.has(messageId))
        .map((entry) => ({ ...entry, text: entry.text?.replace(/\[recall:[^\]]+\]/, '[recall]') }))
    return as(listed(before), listed(after))
  }
  // Without the copies, words are rarer and a page holds more results: earlier hits must still be found.
  if (SEARCH.test(asked) && copies.size > 0) {
    const found = new Set(hits(after).map((id) => copies.get(id) ?? id))
    return as(
      [],
      hits(before)
        .map((id) => copies.get(id) ?? id)
        .filter((id) => !found.has(id)),
    )
  }
  // The reference of a copy resolves to its original.
  if (asked.includes('recall')) {
    const { status, body } = before as { status: number; body: Entry }
    return as({ status, body: { ...body, messageId: copies.get(body.messageId ?? '') ?? body.messageId } }, after)
  }
  if (asked.startsWith('heddle settings')) {
    const known = new Set((before as { items: Entry[] }).items.map(({ name }) => name))
    const items = (after as { items: Entry[] }).items.filter(({ name }) => known.has(name))
    return as(before, { ...(after as object), items })
  }
  return as(before, after)
}

function hits(answer: unknown): string[] {
  const { body } = answer as { body: { items: readonly { messageId: string }[] } }
  return body.items.map(({ messageId }) => messageId)
}
