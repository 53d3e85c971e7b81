import type { ProxiedRequest, ProxyComparison, ProxyTotals } from '@heddle/contracts'

type Priced = Pick<ProxiedRequest, 'costUsd' | 'directCostUsd'>

/** Sums of the requests with a cost, and of what they would have cost unchanged. */
export function sumOfCosts(requests: readonly Priced[]): { costUsd: number; directCostUsd: number; priced: number } {
  const sum = { costUsd: 0, directCostUsd: 0, priced: 0 }
  for (const { costUsd, directCostUsd } of requests) {
    if (costUsd === null || directCostUsd === null) continue
    sum.costUsd += costUsd
    sum.directCostUsd += directCostUsd
    sum.priced++
  }
  return sum
}

/** Sums over modes and models. */
export function sumOfTotals(totals: readonly ProxyTotals[]) {
  const sum = { costUsd: 0, directCostUsd: 0, priced: 0, requests: 0 }
  for (const { costUsd, directCostUsd, priced, requests } of totals) {
    sum.costUsd += costUsd
    sum.directCostUsd += directCostUsd
    sum.priced += priced
    sum.requests += requests
  }
  return sum
}

/** Null without requests. */
export function costOfRequest({ costUsd, requests }: ProxyComparison['control']): number | null {
  return requests === 0 ? null : costUsd / requests
}

export function intervalText(interval: ProxyComparison['interval']): string {
  return interval === null ? 'too few' : `${interval.low.toFixed(2)} to ${interval.high.toFixed(2)}`
}

/** `12 % less`, `3 % more` or `the same`. */
export function savingText({ costUsd, directCostUsd }: { costUsd: number; directCostUsd: number }): string {
  const share = directCostUsd === 0 ? 0 : Math.round((100 * (directCostUsd - costUsd)) / directCostUsd)
  return share === 0 ? 'the same' : share > 0 ? `${share} % less` : `${-share} % more`
}

export function dollars(usd: number | null): string {
  return usd === null ? '–' : `$${usd.toFixed(4)}`
}

/** The reason for which a request was sent as it came; empty for one that was sent by its mode. */
export function passedText({ passed }: Pick<ProxiedRequest, 'passed'>): string {
  return passed === null ? '' : passed.replaceAll('-', ' ')
}
