import type { Expansion, JsonObject, Stub } from '@heddle/contracts'
import { jsonBytesOf, type Span, valueAt } from '../json/spans.js'
import { coverText, firstCovered } from './cover.js'
import type { Entry } from './entry.js'
import type { RequestPlan } from './plan-types.js'
import type { Protocol } from './protocol.js'
import type { ProviderRequest } from './read-request.js'
import { recallToolOf } from './recall-tool.js'

/** The body to send: every entry that the plan does not replace keeps its bytes. The body itself if nothing is replaced. */
export function renderPlan(
  request: ProviderRequest,
  body: Uint8Array,
  plan: Pick<RequestPlan, 'stubs' | 'cover' | 'expansions' | 'hasRecallTool'>,
): Uint8Array {
  const { cover } = plan
  const pieces: Piece[] = []
  const tool = plan.hasRecallTool ? recallToolOf(request.protocol) : null
  const { tools } = request.head
  if (tool !== null && tools !== null) {
    pieces.push({ from: tools.to - 1, to: tools.to - 1, text: `,${JSON.stringify(tool)}` })
  }
  if (cover !== null) {
    const from = request.entries[firstCovered(request)]?.from ?? 0
    const to = request.entries[cover.to - 1]?.to ?? 0
    pieces.push({ from, to, text: JSON.stringify(coverEntry(request.protocol, coverText(request, body, cover))) })
  }
  const changes = changesOf(plan)
  for (const [index, change] of changes) {
    const entry = request.entries[index]
    if (entry !== undefined && index >= (cover?.to ?? 0)) pieces.push(...piecesOf(body, entry, change))
  }
  return pieces.length === 0 ? body : spliced(body, pieces)
}

/** A text in place of some bytes. */
interface Piece extends Span {
  readonly text: string
}

function spliced(body: Uint8Array, pieces: Piece[]): Buffer {
  const parts: Uint8Array[] = []
  let place = 0
  for (const { from, to, text } of pieces.sort((one, other) => one.from - other.from)) {
    parts.push(body.subarray(place, from), Buffer.from(text))
    place = to
  }
  return Buffer.concat([...parts, body.subarray(place)])
}

/** The changes of a plan in one entry. */
interface Change {
  readonly stubs: Stub[]
  /** The reply that stands for it. */
  expansion?: Expansion
  /** The reply before it, whose results it begins with. */
  recalled?: Expansion
}

/** By the positions of the entries. */
function changesOf({ stubs, expansions }: Pick<RequestPlan, 'stubs' | 'expansions'>): Map<number, Change> {
  const changes = new Map<number, Change>()
  const changeOf = (entry: number): Change => {
    const change = changes.get(entry) ?? { stubs: [] }
    changes.set(entry, change)
    return change
  }
  for (const stub of stubs) changeOf(stub.entry).stubs.push(stub)
  for (const expansion of expansions) {
    changeOf(expansion.entry).expansion = expansion
    if (expansion.results.length > 0) changeOf(expansion.entry + 1).recalled = expansion
  }
  return changes
}

function piecesOf(body: Uint8Array, entry: Entry, change: Change): Piece[] {
  const { stubs, expansion, recalled } = change
  if (expansion !== undefined) return [{ ...spanOf(entry), text: expansion.entries.join(',') }]
  const pieces = stubs.flatMap(({ result, text }) => {
    const place = entry.results[result]
    const span = place === undefined ? null : valueAt(jsonBytesOf(body), entry, place.path)
    return span === null ? [] : [{ ...span, text: JSON.stringify(text) }]
  })
  if (recalled === undefined) return pieces
  const inEntry = pieces.map(({ from, to, text }) => ({ from: from - entry.from, to: to - entry.from, text }))
  const value: JsonObject = JSON.parse(spliced(body.subarray(entry.from, entry.to), inEntry).toString())
  return [{ ...spanOf(entry), text: JSON.stringify(withResults(value, recalled)) }]
}

const spanOf = ({ from, to }: Span): Span => ({ from, to })

/** Anthropic expects the results of all calls of a reply at the beginning of one message. */
function withResults(value: JsonObject, { results }: Expansion): JsonObject {
  const { content } = value
  const blocks = Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }]
  return { ...value, content: [...results.map((result) => JSON.parse(result) as JsonObject), ...blocks] }
}

/** A body with further entries at the end of its list, for the next request of the same reply. `sent` is read from it. */
export function appendEntries(sent: ProviderRequest, body: Uint8Array, entries: readonly JsonObject[]): Uint8Array {
  const end = sent.entries.at(-1)?.to ?? 0
  return spliced(body, [{ from: end, to: end, text: entries.map((entry) => `,${JSON.stringify(entry)}`).join('') }])
}

function coverEntry(protocol: Protocol, text: string): JsonObject {
  switch (protocol) {
    case 'anthropic':
      return { role: 'user', content: [{ type: 'text', text }] }
    case 'openai-chat':
      return { role: 'user', content: text }
    case 'openai-responses':
      return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
  }
}
