import type { AtomKind } from '@heddle/contracts'
import type { FateCounts } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'

/** Questions that an agent has after a compaction, by the kinds of details that answer them. */
const probes: Readonly<Record<'recall' | 'artifact' | 'continuation' | 'decision', readonly AtomKind[]>> = {
  /** A number, a name, an address, an error that occurred. */
  recall: ['number', 'identifier', 'name', 'url', 'error'],
  /** Which files there are and what was done to them, and which commands ran. */
  artifact: ['path', 'command'],
  /** The open steps, and the rules to keep to meanwhile. */
  continuation: ['todo', 'constraint', 'correction'],
  /** The choices that were made. */
  decision: ['decision'],
}

export interface ProbeSource {
  readonly name: string
  readonly counts: (kinds: readonly AtomKind[]) => FateCounts
}

/** The share of each kind of probe that the summary answers, or the message that it names; of the first source, others beside it. */
export function probeFigures(sources: readonly ProbeSource[]): Measured[] {
  const [own, ...others] = sources
  if (own === undefined) return []
  return Object.entries(probes).map(([probe, kinds]) => {
    const counts = own.counts(kinds)
    const shown = ({ name, counts: countsOf }: ProbeSource) => `${name} ${sharesOf(countsOf(kinds))}`
    return {
      name: `loss.probe.${probe}`,
      value: answered(counts),
      unit: 'share',
      note: `of ${counts.total}, shown and one recall away: ${[`${own.name} ${sharesOf(counts)}`, ...others.map(shown)].join(', ')}`,
    }
  })
}

function answered({ total, lost }: FateCounts): number {
  return total === 0 ? 1 : (total - lost) / total
}

function sharesOf({ total, summary, pinned, raw, ledger, recall }: FateCounts): string {
  const share = (count: number) => (total === 0 ? 0 : count / total).toFixed(3)
  return `${share(summary + pinned + raw)} + ${share(ledger + recall)}`
}
