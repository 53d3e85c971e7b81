import type { RemoteClient } from '@heddle/client/http'
import { chances, wholeNumber } from '@heddle/test-support/samples/chances'
import { agentTurn } from './agent-turn.js'
import type { OperationTimes } from './operation-times.js'

export interface Load {
  readonly threads: number
  /** Operations that were skipped, since the last call. */
  takeSkipped(): number
  /** Starts no more, and waits for running operations. */
  stop(): Promise<void>
}

interface LoadOptions {
  readonly client: RemoteClient
  readonly times: OperationTimes
  readonly rate: number
  readonly seed: number
}

interface LoadedThread {
  readonly name: string
  readonly agent: string
  turns: number
  /** A message of it is stored, so that other operations can use the thread. */
  isStored: boolean
  /** A reference that a context showed. */
  reference: string | null
}

/** Beyond it the machine is too slow, and a queue in this process would measure itself. */
const UNDER_WAY_MAX = 64
const AGENTS = 8
const THREADS_AT_FIRST = 40
/** One append in this many creates a thread; the others go to existing threads, more often to the latest. */
const APPENDS_PER_THREAD = 12
const RECENT_THREADS = 60
/** The share of each kind of operation: the steps of an agent, and requests of people and other agents. */
const SHARES = { append: 0.5, build: 0.7, 'build-other': 0.75, search: 0.9 } as const
const OTHER_BUDGETS = [8_000, 32_000]
const QUERIES = ['connection timeout', 'queue worker retry', 'deploy release branch', 'schema migration', 'password']

/** Starts operations at a steady rate, whether or not earlier ones have ended. */
export function startLoad({ client, times, rate, seed }: LoadOptions): Load {
  const chance = chances(seed)
  const threads: LoadedThread[] = []
  const underWay = new Set<Promise<void>>()
  let skipped = 0
  const begin = () => {
    const index = threads.length
    const thread = {
      name: `thread-${index}`,
      agent: `agent-${index % AGENTS}`,
      turns: 0,
      isStored: false,
      reference: null,
    }
    threads.push(thread)
    return thread
  }
  const pick = (): LoadedThread => {
    const recent = chance() < 0.7
    const first = recent ? Math.max(0, threads.length - RECENT_THREADS) : 0
    return threads[wholeNumber(chance, first, threads.length - 1)] ?? begin()
  }
  const operation = (): { kind: string; run: () => Promise<unknown> } => {
    const at = chance()
    if (at < SHARES.append) {
      const isNew = threads.length < THREADS_AT_FIRST || chance() < 1 / APPENDS_PER_THREAD
      const thread = isNew ? begin() : pick()
      return { kind: 'append', run: () => append(thread) }
    }
    const thread = threads.length === 0 ? begin() : pick()
    if (!thread.isStored) return { kind: 'append', run: () => append(thread) }
    if (at < SHARES['build-other']) {
      const budget = at < SHARES.build ? undefined : OTHER_BUDGETS[wholeNumber(chance, 0, OTHER_BUDGETS.length - 1)]
      return { kind: budget === undefined ? 'build' : 'build-other', run: () => build(thread, budget) }
    }
    if (at < SHARES.search) {
      const query = QUERIES[wholeNumber(chance, 0, QUERIES.length - 1)] ?? ''
      const scope = chance() < 0.5 ? { thread: thread.name } : { agent: thread.agent }
      return { kind: 'search', run: () => client.search({ query, ...scope, limit: 10 }) }
    }
    const { reference } = thread
    if (reference === null) return { kind: 'build', run: () => build(thread) }
    return { kind: 'recall', run: () => client.recall({ ref: reference, thread: thread.name }) }
  }
  const append = async (thread: LoadedThread) => {
    const { agent, name } = thread
    const messages = agentTurn(chance, thread.turns++)
    await client.messages.append({ agent, thread: name, messages, ack: 'stored' })
    thread.isStored = true
  }
  const build = async (thread: LoadedThread, budget?: number) => {
    const context = await client.contexts.build({
      thread: thread.name,
      message: 'go on',
      format: 'openai-chat',
      ...(budget !== undefined && { budget }),
    })
    const [, reference] = /\[recall:([^\]\s]+)\]/.exec(JSON.stringify(context.messages)) ?? []
    thread.reference = reference ?? thread.reference
  }
  const start = () => {
    if (underWay.size >= UNDER_WAY_MAX) {
      skipped++
      return
    }
    const { kind, run } = operation()
    const startedMs = performance.now()
    const work: Promise<void> = run().then(
      () => times.done(kind, performance.now() - startedMs),
      () => times.failed(kind),
    )
    const counted = work.finally(() => underWay.delete(counted))
    underWay.add(counted)
  }
  const everyMs = 1_000 / rate
  let nextMs = performance.now()
  const timer = setInterval(
    () => {
      for (; nextMs <= performance.now(); nextMs += everyMs) start()
    },
    Math.min(everyMs, 20),
  )
  return {
    get threads() {
      return threads.length
    },
    takeSkipped() {
      const taken = skipped
      skipped = 0
      return taken
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}
