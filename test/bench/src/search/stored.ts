import { randomUUID } from 'node:crypto'
import type { Client } from '@heddle/client/interface'
import type { Measured } from '@heddle/test-support/figure'
import type { Bench } from '../bench.js'
import { median, percentile, timed } from '../load/statistics.js'
import { corpusQuery, corpusText } from './search-corpus.js'

const AGENT = 'talker'
const THREADS = 100
const APPEND_MESSAGES = 20
/** Callers at once while the capacity of ingest is measured. */
const CALLERS = 8
const CAPACITY_MS = 8_000
const LOADED_MS = 20_000
/** Between two messages whose way into searches is measured. */
const PROBE_EVERY_MS = 200
const POLL_MS = 10
/** A message that is not found until then counts with this time. */
const PROBE_MS_MAX = 20_000
const SEARCHES_AT_ONCE = 10

/**
 * The time from a stored message to the first search that finds it, and of ten searches at once, both at half of the rate at
 * which ingest stores messages when all stages run.
 */
export async function measureStoredToSearchable(bench: Bench): Promise<Measured[]> {
  await bench.startUpkeptStages('ingest', 'prune', 'summarize', 'embed')
  const { client } = bench
  const load = new Load(client, bench.fresh('stored'))
  const capacity = await load.capacity()
  const beside = async <Result>(measure: (signal: AbortSignal) => Promise<Result>) => {
    const stop = new AbortController()
    const startedMs = performance.now()
    const offered = load.offer(capacity / 2, stop.signal)
    const result = await measure(stop.signal)
    stop.abort()
    const sent = await offered
    return { result, perSecond: Math.round((sent * 1_000) / (performance.now() - startedMs)) }
  }
  const { result: searchableMs, perSecond } = await beside(() => probe(client, bench.fresh('probe')))
  const { result: searchMs, perSecond: besideSearches } = await beside(() => searchAtOnce(client))
  const note = [
    `${searchableMs.length} messages, one after another, beside ${perSecond} messages/s`,
    `half of the ${Math.round(capacity)} that ingest stored with all stages running`,
  ].join(', ')
  const late = `${searchableMs.filter((ms) => ms >= PROBE_MS_MAX).length} not found within ${PROBE_MS_MAX} ms`
  const besides = `${searchMs.length} searches, ${SEARCHES_AT_ONCE} at once, beside ${besideSearches} messages/s`
  return [
    { name: 'search.stored.p50', value: median(searchableMs), unit: 'ms', target: '<= 300', note: `${note}; ${late}` },
    { name: 'search.stored.p99', value: percentile(searchableMs, 0.99), unit: 'ms', target: '<= 2000', note },
    { name: 'search.stored.searches.p50', value: median(searchMs), unit: 'ms', note: besides },
    { name: 'search.stored.searches.p99', value: percentile(searchMs, 0.99), unit: 'ms', note: besides },
  ]
}

class Load {
  readonly #client: Client
  readonly #name: string
  #sent = 0

  constructor(client: Client, name: string) {
    this.#client = client
    this.#name = name
  }

  /** Messages per second that ingest stores if callers wait for each append. */
  async capacity(): Promise<number> {
    const endsAtMs = performance.now() + CAPACITY_MS
    const before = this.#sent
    const startedMs = performance.now()
    const call = async () => {
      while (performance.now() < endsAtMs) await this.#append()
    }
    await Promise.all(Array.from({ length: CALLERS }, call))
    return ((this.#sent - before) * 1_000) / (performance.now() - startedMs)
  }

  /** Appends at a rate, whether earlier appends have ended or not. @returns the messages sent */
  async offer(perSecond: number, signal: AbortSignal): Promise<number> {
    const before = this.#sent
    const startedMs = performance.now()
    const pending = new Set<Promise<void>>()
    while (!signal.aborted) {
      const due = ((performance.now() - startedMs) * perSecond) / 1_000
      while (this.#sent - before < due) {
        const appending: Promise<void> = this.#append().finally(() => pending.delete(appending))
        pending.add(appending)
      }
      await pause(POLL_MS)
    }
    await Promise.all(pending)
    return this.#sent - before
  }

  async #append(): Promise<void> {
    const first = this.#sent
    this.#sent += APPEND_MESSAGES
    const thread = `${this.#name}-${(first / APPEND_MESSAGES) % THREADS}`
    const messages = Array.from({ length: APPEND_MESSAGES }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: corpusText(first + index).slice(0, 250),
    }))
    await this.#client.messages.append({ agent: AGENT, thread, messages, ack: 'stored' })
  }
}

/** Milliseconds from the acknowledgement of a stored message to the first search that finds it, one message after another. */
async function probe(client: Client, thread: string): Promise<number[]> {
  const endsAtMs = performance.now() + LOADED_MS
  const tookMs: number[] = []
  for (let number = 0; performance.now() < endsAtMs; number++) {
    tookMs.push(await untilFound(client, `${thread}-${number % THREADS}`))
    await pause(PROBE_EVERY_MS)
  }
  return tookMs
}

async function untilFound(client: Client, thread: string): Promise<number> {
  const word = `w${randomUUID().replaceAll('-', '')}`
  await client.messages.append({ agent: AGENT, thread, messages: [{ role: 'user', content: word }], ack: 'stored' })
  const storedMs = performance.now()
  for (;;) {
    const { items } = await client.search({ query: word, agent: AGENT, by: 'words', limit: 1 })
    const tookMs = performance.now() - storedMs
    if (items.length > 0 || tookMs >= PROBE_MS_MAX) return Math.min(tookMs, PROBE_MS_MAX)
    await pause(POLL_MS)
  }
}

async function searchAtOnce(client: Client): Promise<number[]> {
  const endsAtMs = performance.now() + LOADED_MS
  const tookMs: number[] = []
  const search = async (lane: number) => {
    for (let round = 0; performance.now() < endsAtMs; round++) {
      const query = corpusQuery(lane + SEARCHES_AT_ONCE * round)
      tookMs.push(await timed(() => client.search({ query, agent: AGENT })))
    }
  }
  await Promise.all(Array.from({ length: SEARCHES_AT_ONCE }, (_, lane) => search(lane)))
  return tookMs
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
