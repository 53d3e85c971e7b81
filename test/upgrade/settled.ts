import { setTimeout as pause } from 'node:timers/promises'
import { type Door, told } from './door.js'

export interface SettledThread {
  readonly name: string
  readonly agent: string
}

interface ThreadState {
  readonly headSeq: number
  readonly cursors: Readonly<Record<'prune' | 'summarize' | 'embed', number>>
}

const SETTLE_MS_MAX = 20 * 60_000
const POLL_EVERY_MS = 1_000

/**
 * The threads of the project, once each stage has processed all their stored messages.
 *
 * @throws Error that names the unsettled threads, after 20 minutes
 */
export async function untilSettled(door: Door): Promise<readonly SettledThread[]> {
  const threads = (await door.list('/v1/threads')) as SettledThread[]
  const endsAtMs = performance.now() + SETTLE_MS_MAX
  let left = threads
  for (;;) {
    left = await unsettled(door, left)
    if (left.length === 0) return threads
    if (performance.now() > endsAtMs) throw new Error(`not settled: ${left.map(({ name }) => name).join(', ')}`)
    await pause(POLL_EVERY_MS)
  }
}

async function unsettled(door: Door, threads: readonly SettledThread[]): Promise<SettledThread[]> {
  const left: SettledThread[] = []
  for (const thread of threads) {
    const { headSeq, cursors } = await told<ThreadState>(
      door.ask('GET', `/v1/threads/${encodeURIComponent(thread.name)}`),
    )
    if (Object.values(cursors).some((seq) => seq < headSeq)) left.push(thread)
  }
  return left
}
