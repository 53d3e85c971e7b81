import { setPriority } from 'node:os'
import { asksAt, type Door, type DoorNames } from './doors.js'
import { LoopDelay } from './loop-delay.js'
import { type Answers, Asker, type Manners } from './offered-load.js'
import { asksOf, type TenantNames } from './tenant.js'

/** The first message to the process: which project calls which gateways. */
export interface FloodOrder extends TenantNames {
  readonly kind: 'begin'
  readonly urls: readonly string[]
  readonly key: string
}

/** Later messages: a number of callers that repeat without pause, or a fixed rate of calls whatever their results. */
export type AskOrder =
  | { readonly kind: 'closed'; readonly atOnce: number; readonly forMs: number }
  | (DoorNames & {
      readonly kind: 'door'
      readonly door: Door
      readonly manners: Manners
      readonly atOnce: number
      readonly forMs: number
    })
  | { readonly kind: 'open'; readonly perSecond: number; readonly forMs: number }

export interface FloodAnswers extends Omit<Answers, 'others' | 'doneMsOf'> {
  readonly others: readonly (readonly [number, number])[]
  /** Ids of messages that were acknowledged as stored, since the last report. */
  readonly acknowledged: readonly string[]
  /** The delay of this process's own event loop: the 99th percentile, in milliseconds. */
  readonly ownDelayMs: number
}

/**
 * The clients of a flood stand for other machines. Here they share one with the servers and the measuring process, so they
 * run at a lower priority than both.
 */
const NICENESS = 10

let asker: Asker | undefined
let asks: ReturnType<typeof asksOf> | undefined

process.on('message', (order: FloodOrder | AskOrder) => {
  if (order.kind === 'begin') {
    asker = new Asker(order.urls, order.key)
    asks = asksOf(order)
    process.send?.('ready')
  } else void askAs(order).then((answers) => process.send?.(answers))
})
// The channel also closes when the parent was killed.
process.on('disconnect', () => {
  asker?.close()
  process.exit()
})

async function askAs(order: AskOrder): Promise<FloodAnswers> {
  if (asker === undefined || asks === undefined) throw new TypeError('nobody said yet whom to ask')
  if (order.kind === 'door') setPriority(NICENESS)
  const delay = new LoopDelay()
  const asked = order.kind === 'door' ? asksAt(order.door, order) : asks
  const {
    others,
    doneMsOf: _,
    ...answers
  } = order.kind === 'open'
    ? await asker.open(asked.next, order.perSecond, order.forMs)
    : await asker.closed(asked.next, order.atOnce, order.forMs, order.kind === 'door' ? order.manners : 'hasty')
  return { ...answers, others: [...others], acknowledged: asked.acknowledged.splice(0), ownDelayMs: delay.stop() }
}
