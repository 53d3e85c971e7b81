import { type AtomFate, type AtomKind, atomKinds } from '@heddle/contracts'
import {
  AtomCollector,
  type AtomSet,
  countTokens,
  type FateCounts,
  fatesOf,
  finish,
  gateSummary,
  holdsFact,
  noCounts,
  pinnedFacts,
  pinnedTokens,
  repairTokens,
  withPinnedFacts,
} from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { type Case, readCases } from './cases.js'
import { probeFigures } from './probes.js'
import { type Summarize, summarizers } from './summarizers.js'

/** The longest summary of the default settings. */
const TOKENS_MAX = 2_000
/** Kinds that the acceptance of a summary is about, besides what people demanded. */
const ARTIFACTS: readonly AtomKind[] = ['path', 'command', 'error', 'url']

type Name = keyof typeof summarizers

/** The details of one case in one summary. */
interface Judged {
  readonly kind: Case['kind']
  readonly fates: ReadonlyMap<AtomKind, FateCounts>
  readonly tokens: number
  readonly pinnedLost: number
  readonly pinned: number
}

/** Details that each kind of summary kept, left one recall away, or lost, without the gate and with it. */
export async function measureLoss(dataDir: string): Promise<Measured[]> {
  const cases = (await readCases(dataDir)).map((one) => ({ one, atoms: atomsOf(one) }))
  const judged = (summarize: Summarize, isGated: boolean) =>
    cases.flatMap(({ one, atoms }) => judge(one, atoms, summarize, isGated) ?? [])
  const names = Object.keys(summarizers) as Name[]
  const bare = new Map(names.map((name) => [name, judged(summarizers[name], false)]))
  // The agents' own summaries are compared, and not repaired.
  const gated = new Map(names.filter((name) => name !== 'agent').map((name) => [name, judged(summarizers[name], true)]))
  const probed = [
    ...[...gated].map(([name, all]) => ({ name: `gated ${name}`, judged: all })),
    ...[...bare].map(([name, all]) => ({ name, judged: all })),
  ]
  return [
    ...figuresOf(bare),
    ...sourcesOf(bare),
    ...gateFigures([...gated.values()].flat()),
    ...probeFigures(probed.map(({ name, judged: all }) => ({ name, counts: (kinds) => countsOf(all, kinds) }))),
  ]
}

function atomsOf({ sources }: Case): AtomSet {
  const collector = new AtomCollector()
  finish(collector.add(sources))
  return collector.result()
}

function judge(one: Case, atoms: AtomSet, summarize: Summarize, isGated: boolean): Judged | null {
  const facts = pinnedFacts(one.sources)
  const reserved = isGated ? repairTokens(TOKENS_MAX) + pinnedTokens(facts) : 0
  const made = summarize(one, TOKENS_MAX - reserved)
  if (made === null) return null
  const request = {
    tokensMax: TOKENS_MAX,
    atoms,
    repair: new Set(atomKinds),
    last: one.sources.at(-1)?.reference ?? '',
  }
  const summary = isGated
    ? finish(gateSummary({ ...request, summary: withPinnedFacts(made, facts, TOKENS_MAX) })).summary
    : made
  const messages = one.shown.map(({ content, pinned }) => ({ text: content, isPinned: pinned }))
  return {
    kind: one.kind,
    fates: finish(fatesOf(atoms, { summary, messages })).kinds,
    tokens: countTokens(summary),
    pinned: facts.length,
    pinnedLost: facts.filter((fact) => !holdsFact(summary, fact)).length,
  }
}

function countsOf(judged: readonly Judged[], kinds: readonly AtomKind[]): FateCounts {
  const sum = noCounts()
  for (const { fates } of judged) {
    for (const kind of kinds) {
      const counts = fates.get(kind)
      if (counts !== undefined) for (const fate of Object.keys(sum) as (keyof FateCounts)[]) sum[fate] += counts[fate]
    }
  }
  return sum
}

const KEPT: readonly AtomFate[] = ['summary', 'pinned', 'raw']
const RECOVERABLE: readonly AtomFate[] = ['ledger', 'recall']

function shareOf(counts: FateCounts, fates: readonly AtomFate[]): number {
  return counts.total === 0 ? 0 : fates.reduce((sum, fate) => sum + counts[fate], 0) / counts.total
}

const parts = { kept: KEPT, recoverable: RECOVERABLE, lost: ['lost'] } as const

/** By kind of detail, of the extractive summary; the notes have the others, of which the agents' are of real compactions only. */
function figuresOf(bare: ReadonlyMap<Name, readonly Judged[]>): Measured[] {
  return Object.entries(parts).flatMap(([part, fates]) =>
    atomKinds.flatMap((kind): Measured[] => {
      const own = countsOf(bare.get('extractive') ?? [], [kind])
      const others = [...bare].filter(([name]) => name !== 'extractive')
      const note = others.map(([name, judged]) => `${name} ${shareOf(countsOf(judged, [kind]), fates).toFixed(3)}`)
      const value = shareOf(own, fates)
      return own.total === 0
        ? []
        : [{ name: `loss.${part}.${kind}`, value, unit: 'share', note: `of ${own.total}; ${note.join(', ')}` }]
    }),
  )
}

/** All kinds together, on the compactions that agents made, beside their own summaries. */
function sourcesOf(bare: ReadonlyMap<Name, readonly Judged[]>): Measured[] {
  return [...bare].map(([name, judged]) => {
    const real = judged.filter(({ kind }) => kind === 'real')
    const counts = countsOf(real, atomKinds)
    const tokens = real.reduce((sum, one) => sum + one.tokens, 0) / Math.max(1, real.length)
    const note = `${real.length} compactions of agents, ${counts.total} details, recoverable ${shareOf(counts, RECOVERABLE).toFixed(3)}, lost ${shareOf(counts, ['lost']).toFixed(3)}, ${Math.round(tokens)} tokens in the mean`
    return { name: `loss.real.${name}.kept`, value: shareOf(counts, KEPT), unit: 'share', note }
  })
}

function gateFigures(gated: readonly Judged[]): Measured[] {
  const demanded = countsOf(gated, ['constraint', 'correction'])
  const artifacts = countsOf(gated, ARTIFACTS)
  const pinned = gated.reduce((sum, one) => sum + one.pinned, 0)
  const longest = gated.reduce((most, { tokens }) => Math.max(most, tokens), 0)
  return [
    {
      name: 'loss.gate.lost.pinned',
      value: gated.reduce((sum, { pinnedLost }) => sum + pinnedLost, 0),
      unit: 'facts',
      target: '<= 0',
      note: `of ${pinned} in ${gated.length} summaries`,
    },
    {
      name: 'loss.gate.lost.constraint',
      value: demanded.lost,
      unit: 'details',
      target: '<= 0',
      note: `of ${demanded.total} constraints and corrections; ${shareOf(demanded, KEPT).toFixed(3)} kept word for word`,
    },
    {
      name: 'loss.gate.artifacts',
      value: shareOf(artifacts, [...KEPT, ...RECOVERABLE]),
      unit: 'share',
      target: '>= 0.98',
      note: `of ${artifacts.total}; ${shareOf(artifacts, KEPT).toFixed(3)} kept, ${shareOf(artifacts, ['recall']).toFixed(3)} by a message's reference, ${shareOf(artifacts, ['ledger']).toFixed(3)} by the ledger's`,
    },
    {
      name: 'loss.gate.tokens',
      value: longest,
      unit: 'tokens',
      target: `<= ${TOKENS_MAX}`,
      note: 'the longest summary',
    },
  ]
}
