/** The requests of one conversation that have a cost. */
export interface ConversationCost {
  readonly requests: number
  readonly costUsd: number
}

export interface CostComparison {
  /** Cost of a request of treated conversations, divided by that of the others. Null without a cost of either. */
  readonly ratio: number | null
  /** Its interval of 95 %; null if there are too few conversations for one. */
  readonly interval: { readonly low: number; readonly high: number } | null
}

/** With fewer conversations on either side an interval would promise more than it knows. */
export const COMPARED_MIN = 10
const RESAMPLES = 1_000

/**
 * Compares what a request costs in two groups of conversations that were chosen by chance. Requests of one conversation
 * depend on one another, so the interval is that of a bootstrap over conversations: both groups are drawn anew, with
 * repetition, and the ratios of all draws lie between its ends but for 2.5 % at each side. The same input gives the same interval.
 */
export function compareCosts(
  treated: readonly ConversationCost[],
  control: readonly ConversationCost[],
): CostComparison {
  const [one, other] = [costPerRequest(treated), costPerRequest(control)]
  const ratio = one === null || other === null || other === 0 ? null : one / other
  if (ratio === null || Math.min(treated.length, control.length) < COMPARED_MIN) return { ratio, interval: null }
  const random = seeded(treated.length * 31 + control.length)
  const ratios: number[] = []
  for (let draw = 0; draw < RESAMPLES; draw++) {
    const [drawn, drawnControl] = [resampled(treated, random), resampled(control, random)]
    if (drawnControl > 0) ratios.push(drawn / drawnControl)
  }
  ratios.sort((left, right) => left - right)
  const at = (share: number) => ratios[Math.min(ratios.length - 1, Math.floor(share * ratios.length))] ?? ratio
  return { ratio, interval: { low: at(0.025), high: at(0.975) } }
}

function costPerRequest(all: readonly ConversationCost[]): number | null {
  const requests = all.reduce((sum, each) => sum + each.requests, 0)
  return requests === 0 ? null : all.reduce((sum, each) => sum + each.costUsd, 0) / requests
}

/** The cost of a request in as many conversations, drawn with repetition. */
function resampled(all: readonly ConversationCost[], random: () => number): number {
  let [requests, costUsd] = [0, 0]
  for (let draw = 0; draw < all.length; draw++) {
    const drawn = all[Math.floor(random() * all.length)]
    requests += drawn?.requests ?? 0
    costUsd += drawn?.costUsd ?? 0
  }
  return requests === 0 ? 0 : costUsd / requests
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32): the same figures are shown each time. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
