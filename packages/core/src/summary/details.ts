import { countTokens } from '../tokens.js'
import { describeSubject } from './describe.js'
import type { NameIndex } from './name-index.js'
import { baseName, namesIn } from './names.js'
import type { PathView } from './path-view.js'
import type { Candidate } from './sections.js'
import type { NameRole, Subject } from './subjects.js'

/** Names that a line tells of: more is a list, and nobody reads it. What an edit brought in comes first. */
const NAMES_MAX = 40
const CHANGED_NAMES_MAX = 24
const SEEN_NAMES_MAX = 8
/** A file that was read again and again is what the work is about. */
const SEEN_NAMES_A_VIEW = 5
/** Names with which a line is weighed before it is opened. */
const NAMES_TO_OPEN = 4
/** Subjects that are looked at for their lines. */
const SUBJECTS_MAX = 120
/** Names of which a summary may tell, for each of its tokens; those beyond weigh too little. */
const NAMES_A_TOKEN = 0.2
/** A name of twice the weight is needed far more than twice as often. */
const POWER = 3
/** What a subject adds by itself to the names of its line. */
const OWN_SHARE = { file: 0.5, action: 0.15 } as const

interface Item {
  readonly subject: Subject
  readonly label: string
  /** Best first, those that no other line tells of. */
  readonly names: { readonly name: string; readonly weight: number }[]
  /** How many of the names the line has; null where it is not taken. */
  taken: number | null
  tokens: number
  next: Step | null
}

interface Step {
  readonly taken: number
  readonly tokens: number
  /** What it adds for each token. */
  readonly value: number
}

export interface DetailsRequest {
  readonly subjects: readonly Subject[]
  readonly index: NameIndex
  readonly paths: PathView
  /** Messages of the conversation. */
  readonly length: number
  /** Names that other lines tell of. */
  readonly told: ReadonlySet<string>
  readonly tokensMax: number
  /** Of the whole summary. */
  readonly summaryTokensMax: number
}

/**
 * Lines about files and commands. Each name is told where it belongs most; lines and names are taken by what they weigh for
 * their tokens until these are used up.
 */
export function detailLines(request: DetailsRequest): Candidate[] {
  const { index, length } = request
  const items = itemsOf(request)
  for (const item of items) item.next = stepOf(item, request)
  let left = request.tokensMax
  for (;;) {
    let best: Item | null = null
    for (const item of items) {
      if (item.next === null || item.next.tokens - item.tokens > left) continue
      if (best === null || item.next.value > (best.next?.value ?? 0)) best = item
    }
    if (best?.next == null) break
    left -= best.next.tokens - best.tokens
    best.taken = best.next.taken
    best.tokens = best.next.tokens
    best.next = stepOf(best, request)
  }
  return items.flatMap((item): Candidate[] => {
    const { subject } = item
    if (item.taken === null) return []
    const score = ownWeight(subject, index, length)
    const section = subject.kind === 'file' ? 'files' : 'commands'
    return [{ section, text: textOf(item, item.taken), score, place: subject.place, reference: '' }]
  })
}

/** Opens a line with its best names, or gives it one more. */
function stepOf(item: Item, { index, length }: DetailsRequest): Step | null {
  const { subject, names, taken } = item
  if (taken !== null && taken >= Math.min(names.length, NAMES_MAX)) return null
  const count = taken === null ? Math.min(NAMES_TO_OPEN, names.length) : taken + 1
  const tokens = countTokens(`- ${textOf(item, count)}\n`) + 1
  const own = taken === null ? OWN_SHARE[subject.kind] * ownWeight(subject, index, length) ** POWER : 0
  const gain = names.slice(taken ?? 0, count).reduce((sum, { weight }) => sum + weight, own)
  return { taken: count, tokens, value: gain / Math.max(1, tokens - item.tokens) }
}

/** Names of one role that the line of a subject has room for. */
function roleMaxOf({ kind, views }: Subject, role: NameRole | undefined): number {
  if (role === 'seen' || role === undefined) return SEEN_NAMES_MAX + (kind === 'file' ? SEEN_NAMES_A_VIEW * views : 0)
  return role === 'changed' || role === 'removed' ? CHANGED_NAMES_MAX : NAMES_MAX
}

function textOf({ subject, label, names }: Item, count: number): string {
  return describeSubject(
    subject,
    label,
    names.slice(0, count).map(({ name }) => name),
  )
}

function itemsOf({ subjects, index, paths, length, told, summaryTokensMax: total }: DetailsRequest): Item[] {
  const weighed = subjects
    .map((subject) => ({ subject, weight: ownWeight(subject, index, length) }))
    .sort((left, right) => right.weight - left.weight)
    .slice(0, SUBJECTS_MAX)
  const items = new Map<Subject, Item>()
  for (const { subject } of weighed) {
    const label = subject.kind === 'file' ? paths.show(subject.label) : paths.within(subject.label)
    items.set(subject, { subject, label, names: [], taken: null, tokens: 0, next: null })
  }
  const wanted = [...index.homes()]
    .map(([name, homes]) => ({ name, homes, weight: index.weight(name, length) }))
    .sort((left, right) => right.weight - left.weight || (left.name < right.name ? -1 : 1))
    .slice(0, Math.floor(total * NAMES_A_TOKEN))
  for (const { name, homes, weight } of wanted) {
    const home = homes.find((subject) => items.has(subject))
    const item = home && items.get(home)
    // The label tells of its own names.
    if (!item || told.has(name) || namesIn(item.label).has(name)) continue
    const role = item.subject.roles.get(name)
    const alike = item.names.filter((other) => item.subject.roles.get(other.name) === role).length
    if (alike < roleMaxOf(item.subject, role)) item.names.push({ name, weight: weight ** POWER })
  }
  return [...items.values()]
}

function ownWeight(subject: Subject, index: NameIndex, length: number): number {
  const recency = length <= 1 ? 1 : subject.place / (length - 1)
  if (subject.kind === 'action') return subject.importance + Math.log2(Math.max(1, subject.runs)) + 2 * recency
  const edits = subject.edits > 0 ? 4 + Math.min(4, Math.log2(1 + subject.edits)) : 0
  return edits + Math.min(2, Math.log2(1 + subject.views)) + index.weight(baseName(subject.label), length)
}
