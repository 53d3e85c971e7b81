import type { ProxyComparison, ProxyStats, ProxyTotals } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount, type ItemColumn, itemTable } from '../../output/table.js'
import { clientCommand } from '../declared.js'

export function registerProxyStats(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'stats',
    description: 'show what relayed requests cost, beside what they would have cost as they came, by mode and model',
    examples: ['heddle proxy stats', 'heddle proxy stats --json'],
    notes:
      'Costs are those of requests that the provider counted, for models with known prices. "direct" is estimated: what the\nsame requests would have cost unchanged. A streamed chat completion is counted only if it asks for its usage.',
    load: (client) => client.proxy.stats(),
    lines: ({ items, comparisons }: ProxyStats) =>
      items.length === 0
        ? [
            'no relayed requests; an agent calls its provider by way of http://127.0.0.1:4680/anthropic or .../openai/v1',
          ]
        : [...itemTable(items, columns), ...comparisons.flatMap(comparisonLines)],
  })
}

function comparisonLines({ mode, treated, control, ratio, interval }: ProxyComparison): string[] {
  const groups = `${formatCount(treated.threads)} conversations beside ${formatCount(control.threads)} unchanged ones`
  if (ratio === null) return ['', `${mode}: no costs to compare yet; ${groups}`]
  const found = `${mode}: a request costs ${ratio.toFixed(2)} of an unchanged one`
  return [
    '',
    interval === null
      ? `${found}; too few for an interval: ${groups}`
      : `${found}, 95 % interval ${interval.low.toFixed(2)} to ${interval.high.toFixed(2)}: ${groups}`,
  ]
}

const columns: readonly ItemColumn<ProxyTotals>[] = [
  { title: 'mode', text: ({ mode, isControl }) => (isControl ? 'control' : mode) },
  { title: 'model', text: ({ model }) => safeText(model) },
  { title: 'threads', count: ({ threads }) => threads },
  { title: 'requests', count: ({ requests }) => requests },
  { title: 'passed', count: ({ passed }) => passed },
  { title: 'received', count: ({ tokens }) => tokens.received },
  { title: 'sent', count: ({ tokens }) => tokens.sent },
  { title: 'cache reads', count: ({ usage }) => usage.cacheRead },
  { title: 'output', count: ({ usage }) => usage.output },
  { title: 'recalls', count: ({ recalls }) => recalls },
  { title: 'for recalls', right: ({ recallCostUsd, priced }) => dollars(recallCostUsd, priced) },
  { title: 'priced', right: ({ priced, requests }) => `${formatCount(priced)} of ${formatCount(requests)}` },
  { title: 'cost', right: ({ costUsd, priced }) => dollars(costUsd, priced) },
  { title: 'direct', right: ({ directCostUsd, priced }) => dollars(directCostUsd, priced) },
]

function dollars(usd: number, priced: number): string {
  return priced === 0 ? '-' : `$${usd.toFixed(4)}`
}
