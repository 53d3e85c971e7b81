import type { Measured } from '@heddle/test-support/figure'
import { Connections } from '../pipeline/doors/http-connections.js'
import type { OpenApi } from '../pipeline/doors/http-support.js'
import { type Door, openDoor } from './door.js'
import { Lane, noteFault, type Tally } from './lane.js'
import { Random } from './random.js'
import type { RunOptions } from './run.js'

export const httpNames = ['http.fuzz', 'http.fuzz.memory', 'http.fuzz.rate']

/** Connections. A project can have 256 open requests, and each connection has up to four. */
const AT_ONCE = 32
const PIPELINED_MAX = 4
/** Caches fill in the first one. */
const TENTHS = 10
const BYTES_PER_MB = 1_048_576

/** Sends invalid requests to a new `heddle up`, and checks every answer. */
export async function fuzzHttp({ seed, from, count }: RunOptions, say: (line: string) => void): Promise<Measured[]> {
  const door = await openDoor()
  const control = new Connections(door.url, 1)
  const tally: Tally = { statuses: new Map(), codes: new Map(), faults: [], faulty: 0, done: 0 }
  try {
    const document = JSON.parse((await control.ask({ method: 'GET', path: '/openapi.json' })).text) as OpenApi
    const startedMs = performance.now()
    const before = await readFigures(door, control)
    const ownBefore = process.cpuUsage()
    const heapMb: number[] = []
    let next = from
    let told = 0
    const onDone = async (asked: number) => {
      tally.done += asked
      if (tally.done < ((told + 1) * count) / TENTHS) return
      told++
      heapMb.push((await readFigures(door, control)).heapMb)
      const perSecond = tally.done / ((performance.now() - startedMs) / 1_000)
      say(`${tally.done} requests, ${perSecond.toFixed(0)}/s, ${tally.faulty} faults, heap ${heapMb.at(-1)} MB`)
    }
    const askOn = async () => {
      const lane = new Lane(door.url, tally)
      while (next < from + count && door.ended === null) {
        const first = next
        const size = new Random(seed ^ PIPELINED_MAX, first).whole(1, PIPELINED_MAX)
        const asked = Math.min(size, from + count - first)
        next += asked
        await lane.askAll(
          document,
          Array.from({ length: asked }, (_, at) => [first + at, new Random(seed, first + at)] as const),
        )
        await onDone(asked)
      }
      lane.close()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, askOn))
    const seconds = (performance.now() - startedMs) / 1_000
    const own = process.cpuUsage(ownBefore)
    if (door.ended !== null) noteFault(tally, `heddle up ended: ${JSON.stringify(door.ended)}`)
    const after = door.ended === null ? await readFigures(door, control) : before
    const computed = [after.cpuSeconds - before.cpuSeconds, (own.user + own.system) / 1e6]
    const [serverMs, ownMs] = computed.map((cpu) => ((cpu / count) * 1_000).toFixed(2))
    for (const fault of tally.faults) say(fault)
    const shown = (counts: Map<number | string, number>) =>
      [...counts]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([what, times]) => `${times} of ${what}`)
        .join(', ')
    const [settled = 0, last = 0] = [heapMb.at(1), heapMb.at(-1)]
    return [
      {
        name: 'http.fuzz',
        value: tally.faulty,
        unit: 'faults',
        target: '<= 0',
        note: `${count} requests: ${shown(tally.statuses)}; refused with: ${shown(tally.codes)}`,
      },
      {
        name: 'http.fuzz.memory',
        value: last,
        unit: 'MB',
        ceiling: settled,
        target: '<= 1.25',
        note: `heap in use, ${before.heapMb} before and ${after.heapMb} after; after each tenth of the run: ${heapMb.join(', ')}; compared with the second`,
      },
      {
        name: 'http.fuzz.rate',
        value: count / seconds,
        unit: 'requests/s',
        note: `seed ${seed}, ${AT_ONCE} connections, up to ${PIPELINED_MAX} requests at once on each; CPU for each: ${serverMs} ms in heddle up without its Postgres, ${ownMs} ms here`,
      },
    ]
  } finally {
    control.close()
    await door.close()
  }
}

interface Figures {
  readonly heapMb: number
  readonly cpuSeconds: number
}

/** The heap of the server after a garbage collection, and its CPU time so far. */
async function readFigures(door: Door, connections: Connections): Promise<Figures> {
  door.collect()
  const { text } = await connections.ask({ method: 'GET', path: '/metrics' })
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    heapMb: Math.round(read('nodejs_heap_size_used_bytes') / BYTES_PER_MB),
    cpuSeconds: read('process_cpu_seconds_total'),
  }
}
