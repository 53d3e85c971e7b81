import { countTokens } from '../tokens.js'
import { type Candidate, type SectionName, sections } from './sections.js'

/** Candidates of one section that are looked at; the rest weigh too little to be taken. */
const CANDIDATES_MAX = 300
/** Lines of one section whose words overlap more than this say the same; in two sections they say it of different things. */
const OVERLAP_MAX = 0.65
const OVERLAP_BETWEEN_SECTIONS_MAX = 0.85

/** Keeps the best lines of each section while they come in, in linear time and bounded memory. */
export class Shortlist {
  private readonly lists = new Map<SectionName, Candidate[]>()

  add(candidate: Candidate): void {
    const list = this.lists.get(candidate.section) ?? []
    list.push(candidate)
    this.lists.set(candidate.section, list.length < 4 * CANDIDATES_MAX ? list : best(list))
  }

  /** The best first; what was said several times weighs more and stands where it was said last. */
  of(section: SectionName): Candidate[] {
    return best(this.lists.get(section) ?? [])
  }
}

function best(list: readonly Candidate[]): Candidate[] {
  const merged = new Map<string, Candidate>()
  for (const candidate of list) {
    const key = candidate.text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
    const before = merged.get(key)
    merged.set(key, before ? mergeTwo(before, candidate) : candidate)
  }
  return [...merged.values()]
    .sort((left, right) => weightOf(right) - weightOf(left) || right.place - left.place)
    .slice(0, CANDIDATES_MAX)
}

function mergeTwo(first: Candidate, second: Candidate): Candidate {
  const later = first.place > second.place ? first : second
  return { ...later, score: Math.max(first.score, second.score), times: (first.times ?? 1) + (second.times ?? 1) }
}

function weightOf({ score, times = 1 }: Candidate): number {
  return score + Math.log2(times)
}

interface Chosen {
  readonly candidate: Candidate
  readonly words: ReadonlySet<string>
}

/** How much a summary of some length can afford besides what it says. */
export interface Layout {
  readonly withHeadings: boolean
  readonly withReferences: boolean
}

/**
 * Chooses lines within a number of tokens: first each section's own share, then whatever weighs most. Where there is no
 * room for headings there is none for shares.
 */
export function chooseLines(shortlist: Shortlist, tokensMax: number, layout: Layout): Candidate[] {
  const chosen: Chosen[] = []
  const opened = new Set<SectionName>()
  let left = tokensMax
  const take = (candidate: Candidate, room: number): number => {
    const heading = opened.has(candidate.section) || !layout.withHeadings ? 0 : headingCost(candidate.section)
    const cost = lineCost(candidate, layout.withReferences) + heading
    if (cost > Math.min(room, left)) return 0
    const words = wordsOf(candidate.text)
    if (chosen.some((other) => saysTheSame(other, { candidate, words }))) return 0
    chosen.push({ candidate, words })
    opened.add(candidate.section)
    left -= cost
    return cost
  }
  const rest: Candidate[] = []
  for (const { name, share } of sections) {
    let room = layout.withHeadings ? Math.floor(tokensMax * share) : 0
    for (const candidate of shortlist.of(name)) {
      const cost = room > 0 ? take(candidate, room) : 0
      room -= cost
      if (cost === 0) rest.push(candidate)
    }
  }
  rest.sort((left, right) => weightOf(right) - weightOf(left))
  for (const candidate of rest) {
    if (left < 8) break
    take(candidate, left)
  }
  return chosen.map(({ candidate }) => candidate)
}

function headingCost(section: SectionName): number {
  return countTokens(sections.find(({ name }) => name === section)?.heading ?? '') + 3
}

function lineCost(candidate: Candidate, withReferences: boolean): number {
  return countTokens(formatLine(candidate, withReferences)) + 1
}

export function formatLine({ text, reference }: Candidate, withReference: boolean): string {
  return withReference && reference !== '' ? `- ${text} [recall:${reference}]` : `- ${text}`
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_./-]{2,}/gu) ?? [])
}

function saysTheSame(one: Chosen, other: Chosen): boolean {
  const within = one.candidate.section === other.candidate.section
  return overlap(one.words, other.words) > (within ? OVERLAP_MAX : OVERLAP_BETWEEN_SECTIONS_MAX)
}

function overlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const [small, large] = left.size < right.size ? [left, right] : [right, left]
  if (small.size === 0) return 0
  let shared = 0
  for (const word of small) if (large.has(word)) shared++
  // A short line within a long one says the same only if they are of a size.
  return shared / Math.max(small.size, large.size * 0.75)
}
