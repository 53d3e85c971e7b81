import type { Candidate, SectionName } from '../speech/sections.js'

/** Candidates considered per section; the rest weigh too little to be chosen. */
const CANDIDATES_MAX = 80

/** Keeps the best lines of each section as they are added, in linear time and bounded memory. */
export class Shortlist {
  private readonly lists = new Map<SectionName, Candidate[]>()

  add(candidate: Candidate): void {
    const list = this.lists.get(candidate.section) ?? []
    list.push(candidate)
    this.lists.set(candidate.section, list.length < 4 * CANDIDATES_MAX ? list : best(list))
  }

  /** The best first. A line that occurred several times weighs more and is dated by its last occurrence. */
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

export function weightOf({ score, times = 1 }: Candidate): number {
  return score + Math.log2(times)
}
