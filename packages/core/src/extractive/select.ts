import { recallTag } from '../conversation/references.js'
import { type Candidate, type SectionName, sections } from '../speech/sections.js'
import { countTokens } from '../tokens/tokens.js'
import { namesIn } from './names.js'
import { weightOf } from './shortlist.js'

/**
 * Lines of one section whose words overlap more than this are repeats; lines of two sections are about different
 * things.
 */
const OVERLAP_MAX = 0.65
const OVERLAP_BETWEEN_SECTIONS_MAX = 0.85
/** Gain of a line per name that no other line has, multiplied by the cube of the name's weight. */
const NAME_GAIN = 0.05
/** A line of this many tokens costs twice as much as an empty one: long lines must say more, but not in proportion. */
const LINE_TOKENS = 30
/** Minimum length of a useful line. */
const LINE_TOKENS_MIN = 4
/** One reference per this many tokens of a summary: a reference takes about twelve. */
const TOKENS_A_REFERENCE = 200
/** Lines of at least this weight come before all others, whatever they cost. */
const PINNED_SCORE = 100

/** Extras that a summary can contain beside its lines. */
export interface Layout {
  readonly withHeadings: boolean
  readonly withReferences: boolean
}

/** A line with the figures needed to choose among lines. */
export interface Entry {
  readonly candidate: Candidate
  readonly words: ReadonlySet<string>
  readonly names: ReadonlySet<string>
  readonly tokens: number
}

/** Chooses the lines of a summary one by one, until its tokens are used up. */
export class Chooser {
  readonly lines: Candidate[] = []
  /** Names in the chosen lines. */
  readonly told = new Set<string>()
  private readonly chosen: Entry[] = []
  private readonly opened = new Set<SectionName>()
  private references: number
  private left: number

  constructor(
    tokensMax: number,
    private readonly layout: Layout,
    private readonly nameWeight: (name: string) => number,
  ) {
    this.left = tokensMax
    this.references = layout.withReferences ? Math.floor(tokensMax / TOKENS_A_REFERENCE) : 0
  }

  get tokensLeft(): number {
    return this.left
  }

  /**
   * Takes the line with the highest gain per token, until no line fits. The gain of a line only decreases as others are
   * taken.
   */
  fill(entries: readonly Entry[], tokensMax: number): void {
    let room = Math.min(tokensMax, this.left)
    const waiting = entries.map((entry) => ({ entry, value: this.valueOf(entry) }))
    waiting.sort((left, right) => left.value - right.value)
    for (let best = waiting.pop(); best !== undefined && room >= LINE_TOKENS_MIN; best = waiting.pop()) {
      const value = this.valueOf(best.entry)
      const next = waiting.at(-1)
      if (next !== undefined && value < next.value) waiting.splice(firstAbove(waiting, value), 0, { ...best, value })
      else room -= this.take(best.entry, room)
    }
  }

  /** Takes a line if it fits and says something new. Returns its tokens; 0 if it was not taken. */
  private take(entry: Entry, room: number): number {
    const { candidate, tokens } = entry
    if (this.chosen.some((other) => saysTheSame(other, entry))) return 0
    const withReference = candidate.reference !== '' && this.references > 0
    const reference = withReference ? candidate.reference : ''
    const heading = this.opened.has(candidate.section) || !this.layout.withHeadings ? 0 : headingCost(candidate.section)
    const cost = tokens + heading + (withReference ? countTokens(referenceMark(reference)) : 0)
    if (cost > Math.min(room, this.left)) return 0
    if (withReference) this.references--
    this.chosen.push(entry)
    this.lines.push({ ...candidate, reference })
    this.opened.add(candidate.section)
    for (const name of entry.names) this.told.add(name)
    this.left -= cost
    return cost
  }

  private valueOf({ candidate, names, tokens }: Entry): number {
    if (candidate.score >= PINNED_SCORE) return candidate.score
    let gain = weightOf(candidate)
    for (const name of names) if (!this.told.has(name)) gain += NAME_GAIN * this.nameWeight(name) ** 3
    return gain / (LINE_TOKENS + tokens)
  }
}

/** The insertion index in a list sorted by ascending value, before all greater ones. */
function firstAbove(list: readonly { readonly value: number }[], value: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle]?.value ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low
}

export function entryOf(candidate: Candidate): Entry {
  const tokens = countTokens(formatLine({ ...candidate, reference: '' })) + 1
  return { candidate, words: wordsOf(candidate.text), names: namesIn(candidate.text), tokens }
}

function headingCost(section: SectionName): number {
  return countTokens(sections.find(({ name }) => name === section)?.heading ?? '') + 3
}

export function formatLine({ text, reference }: Candidate): string {
  return `- ${text}${referenceMark(reference)}`
}

function referenceMark(reference: string): string {
  return reference === '' ? '' : ` ${recallTag(reference)}`
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_./-]{2,}/gu) ?? [])
}

function saysTheSame(one: Entry, other: Entry): boolean {
  const within = one.candidate.section === other.candidate.section
  return overlap(one.words, other.words) > (within ? OVERLAP_MAX : OVERLAP_BETWEEN_SECTIONS_MAX)
}

function overlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const [small, large] = left.size < right.size ? [left, right] : [right, left]
  if (small.size === 0) return 0
  let shared = 0
  for (const word of small) if (large.has(word)) shared++
  // A short line within a long one is a repeat only if their sizes are similar.
  return shared / Math.max(small.size, large.size * 0.75)
}
