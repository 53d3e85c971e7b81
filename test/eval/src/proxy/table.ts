import { modelPrices } from '@heddle/test-support/providers/prices'
import { type Bill, costOfBill } from './replay-session.js'
import type { ReplaySession } from './session.js'

/** The middle value, or the mean of the two in the middle; NaN of no values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

const HEADER = [
  'session',
  'mode',
  'requests',
  'epochs',
  'most sent',
  'input $',
  'output $',
  'recalls',
  'recall $',
  'of direct',
]
  .map((title, index) => (index < 2 ? title.padEnd(12) : title.padStart(10)))
  .join('')

/** The bills of each session and mode, to standard error; runs of chat are left out, as there are many of them. */
export function sayTable(
  title: string,
  replayed: readonly { readonly session: ReplaySession; readonly bills: ReadonlyMap<string, Bill> }[],
): void {
  process.stderr.write(`\n${title}\n${HEADER}   tokens: input, read, written\n`)
  for (const { session, bills } of replayed) {
    if (session.protocol !== 'anthropic') continue
    const direct = bills.get('direct')
    process.stderr.write(`${session.name.padEnd(12)}${'(recorded)'.padEnd(12)}${recordedDollars(session)}\n`)
    for (const [mode, bill] of bills) process.stderr.write(`${row(session.name, mode, bill, direct ?? bill)}\n`)
  }
}

/** The input as the recording counted it, at the same prices. */
function recordedDollars({ model, requests }: ReplaySession): string {
  const prices = modelPrices(model)
  const sum = requests.reduce(
    (total, { recorded }) =>
      total +
      (recorded?.input ?? 0) * prices.input +
      (recorded?.cacheRead ?? 0) * prices.cacheRead +
      (recorded?.cacheWrite ?? 0) * prices.write5m,
    0,
  )
  return `${(sum / 1e6).toFixed(3).padStart(40)}`
}

function row(session: string, mode: string, bill: Bill, direct: Bill): string {
  const dollars = (micro: number) => (micro / 1e6).toFixed(3)
  const cells = [
    bill.requests,
    bill.epochs,
    Math.round(bill.tokensSentMax),
    dollars(bill.inputCost),
    dollars(bill.outputCost),
    bill.recalls,
    dollars(bill.recallCost),
    (costOfBill(bill) / costOfBill(direct)).toFixed(3),
  ]
  const { input, cacheRead, write5m, write1h } = bill.tokens
  const tokens = [input, cacheRead, write5m + write1h].map((value) => `${Math.round(value / 1000)}k`).join(', ')
  return `${session.padEnd(12)}${mode.padEnd(12)}${cells.map((cell) => String(cell).padStart(10)).join('')}   ${tokens}`
}
