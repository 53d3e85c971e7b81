import type { Measured } from '@heddle/test-support/figure'
import { type Bill, costOfBill } from './replay-session.js'
import type { ReplaySession } from './session.js'
import { median } from './table.js'

/** Sessions with a larger request count for the median. */
const LONG_TOKENS_MIN = 100_000

export interface Replayed {
  readonly session: ReplaySession
  /** By mode. */
  readonly bills: ReadonlyMap<string, Bill>
}

export interface BilledMode {
  readonly name: string
  /** The bar of each session, and of the median of the long ones, as a share of the cost without a proxy. */
  readonly bars: { readonly each?: string; readonly median?: string }
}

interface FigureNames {
  readonly prefix: string
  readonly suffix: string
}

/** Requests that a provider would refuse, and those that change a sent prefix inside of an epoch. */
export function faultFigures(replayed: readonly Replayed[], modes: readonly BilledMode[], prefix: string): Measured[] {
  const bills = replayed.flatMap(({ bills }) => [...bills.values()])
  const requests = bills.reduce((sum, bill) => sum + bill.requests, 0)
  const figure = (name: string, faults: readonly string[]): Measured => ({
    name,
    value: faults.length,
    unit: 'requests',
    target: '<= 0',
    note: `of ${requests} requests in ${modes.map((mode) => mode.name).join(', ')}${faults.length > 0 ? `; ${faults.slice(0, 5).join('; ')}` : ''}`,
  })
  return [
    figure(
      `${prefix}.invalid`,
      bills.flatMap(({ invalid }) => invalid),
    ),
    figure(
      `${prefix}.prefix.broken`,
      bills.flatMap(({ broken }) => broken),
    ),
  ]
}

/** Costs by session and the median of the long ones. Bills of the mode `direct` are the comparison. */
export function costFigures(
  replayed: readonly Replayed[],
  modes: readonly BilledMode[],
  { prefix, suffix }: FigureNames,
): Measured[] {
  return modes.flatMap(({ name, bars }) => {
    const costs = replayed.map(({ session, bills }) => {
      const [bill, direct] = [bills.get(name) as Bill, bills.get('direct') as Bill]
      return { session, bill, direct, cost: costOfBill(bill), ceiling: costOfBill(direct) }
    })
    const long = costs.filter(({ direct }) => direct.tokensSentMax > LONG_TOKENS_MIN)
    const chat = costs.filter(({ session }) => session.protocol === 'openai-chat')
    const worst = Math.max(...chat.map(({ cost, ceiling }) => cost / ceiling))
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
    return [
      {
        name: `${prefix}.cost.${name}${suffix}`,
        value: median(long.map(({ cost, ceiling }) => cost / ceiling)),
        unit: 'share',
        target: bars.median,
        note: `median of ${long.length} sessions over ${LONG_TOKENS_MIN} tokens, beside the cost without a proxy; system prompt and tools are generated text`,
      },
      ...costs
        .filter(({ session }) => session.protocol === 'anthropic')
        .map(({ session, bill, cost, ceiling }) => ({
          name: `${prefix}.cost.${name}${suffix}.${session.name}`,
          value: cost / 1e6,
          unit: 'dollars',
          ceiling: ceiling / 1e6,
          target: bars.each,
          note: `${bill.requests} requests, ${bill.epochs} epochs, up to ${Math.round(bill.tokensSentMax)} tokens, ${bill.recalls} recalls for ${(bill.recallCost / 1e6).toFixed(3)} dollars`,
        })),
      ...(chat.length === 0
        ? []
        : [
            {
              name: `${prefix}.cost.${name}${suffix}.tau-bench`,
              value: sum(chat.map(({ cost }) => cost)) / 1e6,
              unit: 'dollars',
              ceiling: sum(chat.map(({ ceiling }) => ceiling)) / 1e6,
              target: bars.each,
              note: `${chat.length} runs, of which the worst costs ${worst.toFixed(4)} of its cost without a proxy; the times between messages are made up`,
            },
          ]),
    ]
  })
}
