import type { ContextRequest, Settings } from '@heddle/contracts'
import type { Fact } from './fact.js'
import { factKey, heldAt, type Standing, standingsOf } from './standings.js'

/** A fact as contexts know it. */
export interface ContextFact extends Fact {
  /** The name of its thread; null for a fact of the agent. */
  readonly thread: string | null
  /** When the fact was recorded that a person put in its place; null without one. */
  readonly correctedAtMs: number | null
  /** The codes of the messages that say so. */
  readonly codes: readonly string[]
}

export interface FactLimits {
  readonly tokensMax: number
  /** Most facts of a context. */
  readonly limit: number
}

/** The facts of a context: whole keys, of which the last recorded ones are shown. */
export interface ContextFacts {
  readonly limits: FactLimits
  readonly facts: readonly ContextFact[]
  /** The time of the last compaction, in milliseconds since 1970. */
  readonly baseMs: number
  readonly nowMs: number
}

/** The limits of facts for a request; null if they are not wanted. */
export function factLimits({ facts }: ContextRequest, { sections }: Settings): FactLimits | null {
  const { enabled, ...limits } = sections.facts
  const wanted = facts ?? enabled
  if (wanted === false) return null
  if (wanted === true) return limits
  const { tokensMax = limits.tokensMax, limit = limits.limit } = wanted
  return { tokensMax, limit }
}

/** Facts that are read: some of those recorded last were replaced. */
export function factsRead(limit: number): number {
  return 2 * limit
}

/** Whether some fact begins or ceases to hold at a time to come, without any change. */
export function areTimed({ facts, nowMs }: Pick<ContextFacts, 'facts' | 'nowMs'>): boolean {
  return facts.some(({ validFromMs, validToMs }) => validFromMs > nowMs || (validToMs !== null && validToMs > nowMs))
}

export interface HeldFact {
  readonly fact: ContextFact
  readonly standing: Standing
}

/** The facts of a moment, as they were known then. */
export interface FactsAt {
  /** The newest first, facts of one subject and predicate beside each other. */
  readonly held: readonly HeldFact[]
  /** All that held, also beyond the limit. */
  readonly heldIds: ReadonlySet<string>
  /** Of every fact that was known. */
  readonly standings: ReadonlyMap<string, Standing>
}

/** The facts that hold now, of those recorded last; nothing that is recorded is of a time to come, whatever the clocks say. */
export function factsNow({ facts, nowMs, limits }: Omit<ContextFacts, 'baseMs'>): FactsAt {
  const atMs = facts.reduce((latest, { recordedAtMs }) => Math.max(latest, recordedAtMs), nowMs)
  return factsAt(facts, atMs, limits.limit)
}

/** The facts that held at a moment, of those recorded last until then, with what was known then. */
export function factsAt(facts: readonly ContextFact[], atMs: number, limit: number): FactsAt {
  const known = facts.flatMap((fact) => asOf(fact, atMs) ?? [])
  const standings = standingsOf(known)
  const latest = known.toSorted(lastRecordedFirst).slice(0, factsRead(limit))
  const held = latest.flatMap((fact): HeldFact[] => {
    const standing = standings.get(fact.id)
    return standing !== undefined && heldAt(fact, standing, atMs) ? [{ fact, standing }] : []
  })
  return { held: byKey(held).slice(0, limit), heldIds: new Set(held.map(({ fact }) => fact.id)), standings }
}

/** Null for a fact that was recorded later. */
function asOf(fact: ContextFact, atMs: number): ContextFact | null {
  if (fact.recordedAtMs > atMs) return null
  const { retractedAtMs, correctedAtMs } = fact
  const wasRetracted = retractedAtMs !== null && retractedAtMs <= atMs
  const wasCorrected = correctedAtMs !== null && correctedAtMs <= atMs
  if ((wasRetracted || retractedAtMs === null) && (wasCorrected || fact.correctedBy === null)) return fact
  return {
    ...fact,
    retractedAtMs: wasRetracted ? retractedAtMs : null,
    correctedBy: wasCorrected ? fact.correctedBy : null,
  }
}

function byKey(held: readonly HeldFact[]): HeldFact[] {
  const groups = new Map<string, HeldFact[]>()
  for (const one of held.toSorted(newestFirst)) {
    const key = factKey(one.fact)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return [...groups.values()].flat()
}

/** Facts that are read together are recorded at one time: the newest of them come first. */
function lastRecordedFirst(left: ContextFact, right: ContextFact): number {
  return right.recordedAtMs - left.recordedAtMs || newestFirst({ fact: left }, { fact: right })
}

function newestFirst({ fact: left }: Pick<HeldFact, 'fact'>, { fact: right }: Pick<HeldFact, 'fact'>): number {
  return right.validFromMs - left.validFromMs || (left.id < right.id ? 1 : -1)
}
