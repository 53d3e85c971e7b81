import type { Fact } from './fact.js'
import { contentTerms, subjectKey } from './subject-key.js'

/** The effect of other facts on a fact. Computed when it is read, so no order of arrival and no erasure leaves a wrong one. */
export interface Standing {
  /** When it ceased to hold; null while it does. */
  readonly validToMs: number | null
  /** The fact that replaced it, or the one that a person put in its place. */
  readonly supersededBy: string | null
  /** Facts that hold at the same time and deny it, or state another value since the same moment; the closest first. */
  readonly conflictsWith: readonly string[]
}

/** Share of the terms that a fact denies which another states, from which on they are about the same. */
const SAME_OBJECT_SHARE_MIN = 0.5
const CONFLICTS_MAX = 10

/** Equal for facts that may replace or deny each other. */
export function factKey({ scope, subject, predicate }: Pick<Fact, 'scope' | 'subject' | 'predicate'>): string {
  return JSON.stringify([scope, subjectKey(subject), predicate.toLowerCase()])
}

/**
 * A fact is replaced by the next later value of the same subject and predicate in its scope, if both have one value at a time. All
 * others stay; two that cannot both be true are in conflict.
 *
 * @param facts those of whole keys: see {@link factKey}
 */
export function standingsOf(facts: readonly Fact[]): Map<string, Standing> {
  const standings = new Map<string, Standing>()
  for (const group of groupsOf(facts).values()) {
    const held = group.filter(({ correctedBy, retractedAtMs }) => correctedBy === null && retractedAtMs === null)
    const words = new Map(held.map((fact) => [fact, wordsOf(fact)]))
    const ends = new Map(held.map((fact) => [fact.id, endOf(fact, { held, words })]))
    const denying = held.filter(({ isNegated }) => isNegated)
    for (const fact of group) {
      const end = ends.get(fact.id)
      standings.set(fact.id, {
        validToMs: end?.validToMs ?? fact.validToMs,
        supersededBy: fact.correctedBy ?? end?.supersededBy ?? null,
        conflictsWith: end === undefined ? [] : conflictsOf(fact, { held, denying, ends, words }),
      })
    }
  }
  return standings
}

/** Whether a fact held at a moment; what was corrected or retracted never did. */
export function heldAt(fact: Fact, { validToMs }: Standing, atMs: number): boolean {
  if (fact.correctedBy !== null || fact.retractedAtMs !== null) return false
  return fact.validFromMs <= atMs && (validToMs === null || validToMs > atMs)
}

type End = Pick<Standing, 'validToMs' | 'supersededBy'>

/** An object, read once for all comparisons of its group. */
interface Words {
  readonly plain: string
  readonly terms: ReadonlySet<string>
}

function wordsOf({ object }: Fact): Words {
  return { plain: object.toLowerCase().replace(/\s+/g, ' ').trim(), terms: contentTerms(object) }
}

function endOf(fact: Fact, { held, words }: Pick<Others, 'held' | 'words'>): End {
  let next: Fact | null = null
  if (fact.isSingle) {
    for (const other of held) {
      if (!other.isSingle || other.validFromMs <= fact.validFromMs || isSame(other, fact, words)) continue
      if (next === null || comesBefore(other, next)) next = other
    }
  }
  const ends = [fact.validToMs, next?.validFromMs ?? null].filter((end) => end !== null)
  return { validToMs: ends.length === 0 ? null : Math.min(...ends), supersededBy: next?.id ?? null }
}

function comesBefore(left: Fact, right: Fact): boolean {
  return left.validFromMs < right.validFromMs || (left.validFromMs === right.validFromMs && left.id < right.id)
}

function isSame(left: Fact, right: Fact, words: Others['words']): boolean {
  return left.isNegated === right.isNegated && words.get(left)?.plain === words.get(right)?.plain
}

interface Others {
  readonly held: readonly Fact[]
  readonly denying: readonly Fact[]
  readonly ends: ReadonlyMap<string, End>
  readonly words: ReadonlyMap<Fact, Words>
}

function conflictsOf(fact: Fact, { held, denying, ends, words }: Others): string[] {
  const overlaps = (other: Fact) => {
    const [end, otherEnd] = [ends.get(fact.id)?.validToMs ?? null, ends.get(other.id)?.validToMs ?? null]
    return (end === null || end > other.validFromMs) && (otherEnd === null || otherEnd > fact.validFromMs)
  }
  const opposed = (fact.isNegated ? held : denying).filter(({ isNegated }) => isNegated !== fact.isNegated)
  const denied = opposed.flatMap((other) => {
    const [own, others] = [words.get(fact), words.get(other)]
    const shared = fact.isNegated ? sharedTerms(own, others) : sharedTerms(others, own)
    return shared > 0 && overlaps(other) ? [{ id: other.id, shared }] : []
  })
  const since = fact.isSingle
    ? held.filter((other) => other.isSingle && other.validFromMs === fact.validFromMs && !isSame(other, fact, words))
    : []
  return [...denied, ...since.filter(overlaps).map(({ id }) => ({ id, shared: 1 }))]
    .filter(({ id }) => id !== fact.id)
    .sort((left, right) => right.shared - left.shared || (left.id < right.id ? -1 : 1))
    .slice(0, CONFLICTS_MAX)
    .map(({ id }) => id)
}

/** The share of what a fact denies that another states; 0 if that is something else. */
function sharedTerms(denying: Words | undefined, stating: Words | undefined): number {
  if (denying === undefined || stating === undefined) return 0
  const denied = denying.terms
  if (denied.size === 0) return denying.plain === stating.plain ? 1 : 0
  let shared = 0
  for (const term of denied) if (stating.terms.has(term)) shared++
  return shared >= Math.min(2, denied.size) && shared >= SAME_OBJECT_SHARE_MIN * denied.size ? shared / denied.size : 0
}

function groupsOf(facts: readonly Fact[]): Map<string, Fact[]> {
  const groups = new Map<string, Fact[]>()
  for (const fact of facts) {
    const key = factKey(fact)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [fact])
    else group.push(fact)
  }
  return groups
}
