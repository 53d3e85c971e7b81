import { type AtomFate, type AtomKind, atomFates, atomKinds } from '@heddle/contracts'
import type { Pausable } from '../recall/steps.js'
import { plainWords } from '../summarizing/pinned.js'
import type { Atom, AtomSet } from './atom.js'
import { referencesIn, ShownDetails, SummaryText } from './shown.js'
import { endingsOf, numbersIn } from './tokens.js'

/** A message that a context shows beside the summary, as it shows it. */
export interface ShownMessage {
  readonly text: string
  readonly isPinned: boolean
}

/** A context after a compaction. */
export interface ShownContext {
  readonly summary: string
  readonly messages: Iterable<ShownMessage>
  /** The text of the ledger, if the context has it. */
  readonly ledger?: string | undefined
}

export type FateCounts = Readonly<Record<AtomFate | 'total', number>>

export interface AtomFates {
  readonly kinds: ReadonlyMap<AtomKind, FateCounts>
  /** By kind, each in the order of the conversation. */
  readonly lost: readonly Atom[]
}

/** Atoms between two pauses. */
const ATOMS_A_STEP = 200

/** Finds for each atom where a context has it. Linear in the atoms and in what is shown. */
export function* fatesOf(atoms: AtomSet, shown: ShownContext): Pausable<AtomFates> {
  const summary = new SummaryText(shown.summary)
  const ledger = shown.ledger === undefined ? null : new SummaryText(shown.ledger)
  const [pinned, raw] = [new ShownDetails(), new ShownDetails()]
  const references = new Set(summary.references)
  for (const { text, isPinned } of shown.messages) {
    const details = isPinned ? pinned : raw
    details.add(text)
    for (const { reference } of referencesIn(text)) references.add(reference)
    yield
  }
  const kinds = new Map<AtomKind, Record<AtomFate | 'total', number>>()
  const lost: Atom[] = []
  let judged = 0
  for (const kind of atomKinds) {
    const all = atoms.of(kind)
    if (all.length === 0) continue
    const counts = noCounts()
    const has = judgeOf(kind, all)
    for (const atom of all) {
      const fate = fateOf(atom)
      counts.total++
      counts[fate]++
      if (fate === 'lost') lost.push(atom)
      if (++judged % ATOMS_A_STEP === 0) yield
    }
    kinds.set(kind, counts)

    function fateOf(atom: Atom): AtomFate {
      if (has.summary(atom, summary)) return 'summary'
      if (has.details(atom, pinned)) return 'pinned'
      if (has.details(atom, raw)) return 'raw'
      if (summary.hasLedger || (ledger !== null && has.summary(atom, ledger))) return 'ledger'
      return atom.references.some((reference) => references.has(reference)) ? 'recall' : 'lost'
    }
  }
  return { kinds, lost }
}

export function noCounts(): Record<AtomFate | 'total', number> {
  return { total: 0, ...(Object.fromEntries(atomFates.map((fate) => [fate, 0])) as Record<AtomFate, number>) }
}

interface Judge {
  readonly details: (atom: Atom, shown: ShownDetails) => boolean
  readonly summary: (atom: Atom, summary: SummaryText) => boolean
}

/** How an atom of a kind is found: details by their form, words of a person verbatim, other statements also reworded. */
function judgeOf(kind: AtomKind, all: readonly Atom[]): Judge {
  const byDetails = (details: Judge['details']): Judge => ({
    details,
    summary: (atom, { details: own }) => details(atom, own),
  })
  switch (kind) {
    case 'path': {
      const distinct = shortestEndings(all)
      return byDetails((atom, shown) => distinct.get(atom)?.some((ending) => shown.paths.has(ending)) === true)
    }
    case 'url':
      return byDetails(({ text }, shown) => shown.urls.has(text))
    case 'number':
      return byDetails(({ text }, shown) => numbersIn(text).some(({ key }) => shown.numbers.has(key)))
    case 'identifier':
      return byDetails(({ text }, shown) => shown.identifiers.has(text))
    case 'constraint':
    case 'correction':
    case 'name':
      return {
        details: ({ text }, shown) => shown.sentences.has(plainWords(text)),
        summary: ({ text }, summary) => summary.hasVerbatim(plainWords(text)),
      }
    case 'decision':
    case 'todo':
      return {
        details: ({ text }, shown) => shown.sentences.has(plainWords(text)),
        summary: ({ text }, summary) => summary.hasVerbatim(plainWords(text)) || summary.hasReworded(text),
      }
    case 'command':
    case 'error':
      return { details: () => false, summary: ({ key }, summary) => summary.hasReworded(key) }
  }
}

/** The endings of each path that no other path has: a summary shortens paths, but must not confuse two files. */
function shortestEndings(paths: readonly Atom[]): ReadonlyMap<Atom, readonly string[]> {
  const counts = new Map<string, number>()
  const endings = new Map(paths.map((atom) => [atom, endingsOf(atom.text)]))
  for (const all of endings.values()) for (const ending of all) counts.set(ending, (counts.get(ending) ?? 0) + 1)
  return new Map(
    [...endings].map(([atom, all]) => [atom, all.filter((ending) => counts.get(ending) === 1 || ending === atom.text)]),
  )
}
