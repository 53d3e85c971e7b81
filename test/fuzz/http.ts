import { errorCodes } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { Connections, type PlainAnswer } from '../pipeline/http-connections.js'
import { type MalformedRequest, malformedRequest } from '../pipeline/http-malformed.js'
import type { OpenApi } from '../pipeline/http-support.js'
import { type Door, openDoor } from './door.js'
import { Random } from './random.js'
import type { RunOptions } from './run.js'

export const httpNames = ['http.fuzz', 'http.fuzz.memory', 'http.fuzz.rate']

const AT_ONCE = 16
/** What is sound after all is worked on, by the workers too: others are asked at a hundred times the pace. */
const BROKEN_SHARE = 0.8
const FAULTS_KEPT_MAX = 20
/** In the first one caches fill. */
const TENTHS = 10
const BYTES_PER_MB = 1_048_576

interface Tally {
  readonly statuses: Map<number, number>
  readonly faults: string[]
  faulty: number
}

/** Asks a fresh `heddle up` for what nobody should ask for, and looks at every answer. */
export async function fuzzHttp({ seed, from, count }: RunOptions, say: (line: string) => void): Promise<Measured[]> {
  const door = await openDoor()
  const connections = new Connections(door.url, AT_ONCE)
  const tally: Tally = { statuses: new Map(), faults: [], faulty: 0 }
  try {
    const document = JSON.parse((await connections.ask({ method: 'GET', path: '/openapi.json' })).text) as OpenApi
    const startedMs = performance.now()
    const before = await readFigures(door, connections)
    const ownBefore = process.cpuUsage()
    const heapMb: number[] = []
    let next = from
    const askOn = async () => {
      for (let index = next++; index < from + count && door.ended === null; index = next++) {
        await askOne(connections, malformedRequest(document, new Random(seed, index), BROKEN_SHARE), index, tally)
        const done = index - from + 1
        if (done % Math.ceil(count / TENTHS) !== 0) continue
        heapMb.push((await readFigures(door, connections)).heapMb)
        say(`${done} requests, ${heapMb.at(-1)} MB`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, askOn))
    const seconds = (performance.now() - startedMs) / 1_000
    const own = process.cpuUsage(ownBefore)
    const { cpuSeconds } = await readFigures(door, connections)
    const computed = [cpuSeconds - before.cpuSeconds, (own.user + own.system) / 1e6]
    const [serverMs, ownMs] = computed.map((cpu) => ((cpu / count) * 1_000).toFixed(2))
    if (door.ended !== null) note(tally, `heddle up ended: ${JSON.stringify(door.ended)}`)
    for (const fault of tally.faults) say(fault)
    const statuses = [...tally.statuses].sort(([one], [other]) => one - other)
    const shown = statuses.map(([status, times]) => `${times} of ${status}`).join(', ')
    const [settled = 0, last = 0] = [heapMb.at(1), heapMb.at(-1)]
    return [
      { name: 'http.fuzz', value: tally.faulty, unit: 'faults', target: '<= 0', note: `${count} requests: ${shown}` },
      {
        name: 'http.fuzz.memory',
        value: last,
        unit: 'MB',
        ceiling: settled,
        target: '<= 1.25',
        note: `heap in use after each tenth of the run: ${heapMb.join(', ')}; compared with the second`,
      },
      {
        name: 'http.fuzz.rate',
        value: count / seconds,
        unit: 'requests/s',
        note: `seed ${seed}, ${AT_ONCE} at once; CPU for each: ${serverMs} ms in heddle up without its Postgres, ${ownMs} ms here`,
      },
    ]
  } finally {
    connections.close()
    await door.close()
  }
}

async function askOne(connections: Connections, asked: MalformedRequest, index: number, tally: Tally): Promise<void> {
  try {
    const answer = await connections.ask(asked)
    tally.statuses.set(answer.status, (tally.statuses.get(answer.status) ?? 0) + 1)
    const fault = faultOf(asked, answer)
    if (fault !== null) throw new Error(fault)
  } catch (error) {
    const sent = JSON.stringify(asked).slice(0, 600)
    note(tally, `request ${index}: ${error instanceof Error ? error.message : String(error)}: ${sent}`)
  }
}

/** What is wrong with an answer; null where nothing is. */
function faultOf({ method }: MalformedRequest, { status, headers, text }: PlainAnswer): string | null {
  if (status >= 500) return `${status} ${text.slice(0, 300)}`
  if (status < 400 || method === 'HEAD') return null
  if (headers['content-type']?.startsWith('application/problem+json') !== true)
    return `${status} is no problem document`
  const problem = JSON.parse(text) as { status: unknown; code: unknown; title: unknown; detail: unknown }
  const isWhole = problem.status === status && typeof problem.title === 'string' && typeof problem.detail === 'string'
  const isNamed = (errorCodes as readonly unknown[]).includes(problem.code)
  return isWhole && isNamed ? null : `a problem document that is none: ${text.slice(0, 300)}`
}

function note(tally: Tally, fault: string): void {
  tally.faulty++
  if (tally.faults.length < FAULTS_KEPT_MAX) tally.faults.push(fault)
}

interface Figures {
  readonly heapMb: number
  readonly cpuSeconds: number
}

/** What the server holds after a collection, and what it has computed so far. */
async function readFigures(door: Door, connections: Connections): Promise<Figures> {
  door.collect()
  const { text } = await connections.ask({ method: 'GET', path: '/metrics' })
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    heapMb: Math.round(read('nodejs_heap_size_used_bytes') / BYTES_PER_MB),
    cpuSeconds: read('process_cpu_seconds_total'),
  }
}
