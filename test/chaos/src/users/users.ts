import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { closeLater } from '@heddle/test-support/closing'
import { told } from '@heddle/test-support/forked'
import type { Ledger } from '../ledger.js'
import type { Place } from '../place.js'
import { PRODUCERS } from '../production.js'
import type { Progress } from '../progress.js'
import type { Size } from '../sizes.js'
import type { GatewayPlace } from './part.js'
import type { ProducerNews, ProducerOrder } from './producer-process.js'
import type { RequesterOrder, Settlement } from './requester-process.js'

export interface Books {
  readonly ledger: Ledger
  readonly progress: Progress
  readonly settlements: Settlement[]
  /** Called at each acknowledged append, and at each built context. */
  readonly onSuccess?: (of: 'append' | 'context') => void
  /** Called at each append that its producer repeats. @param code of the error */
  readonly onRefused?: (code: string) => void
}

/**
 * Starts the users of the pipeline, each in its own process.
 *
 * @returns a function that starts their work once all are connected; resolves when they have finished
 * @throws Error, also from that function, if one of them cannot continue
 */
export async function startUsers(place: Place | GatewayPlace, size: Size, books: Books): Promise<() => Promise<void>> {
  const ready = await Promise.all([
    ...Array.from({ length: PRODUCERS }, (_, producer) =>
      startProducer(
        // Each way of appending by half of the producers.
        { ...place, size, producer, isDirect: producer % 2 === 1 },
        books,
      ),
    ),
    startRequester({ ...place, size, isDirect: false }, books),
  ])
  return async () => {
    const all = ready.map((user) => user.go())
    const requester = ready.at(-1)
    for (let number = 1; number <= size.contexts; number++) {
      void isDue(number, size, books.progress).then(() => requester?.send('next'))
    }
    await Promise.all(all)
  }
}

/** Starts a process that appends. */
export function startProducer(order: ProducerOrder, books: Books): Promise<User> {
  const { ledger, progress, onSuccess = () => {}, onRefused = () => {} } = books
  return startUser<ProducerOrder, ProducerNews>('./producer-process.js', order, (news) => {
    if (news.kind === 'failed') throw new Error(`a producer cannot go on: ${news.reason}`)
    if (news.kind === 'refused') return onRefused(news.code)
    ledger.add(news.thread, news.entries)
    progress.add(news.entries.length)
    onSuccess('append')
  })
}

/** Starts a process that requests a context at each `next`. */
export function startRequester(order: RequesterOrder, { settlements, onSuccess = () => {} }: Books): Promise<User> {
  return startUser<RequesterOrder, Settlement>('./requester-process.js', order, (settlement) => {
    settlements.push(settlement)
    if (settlement.end === 'built') onSuccess('context')
  })
}

/** Spread over the run; the last ones come after the last append. */
async function isDue(number: number, size: Size, progress: Progress): Promise<void> {
  const { contexts, contextsEveryMs } = size
  if (contextsEveryMs === null) await progress.reaches(number / contexts)
  else await wait(number * contextsEveryMs)
}

export interface User {
  /** Resolves when it has finished. */
  go(): Promise<void>
  /** Sends it a message. */
  send(message: string | object): void
  /** Resolves when it answers with this message. */
  whenSaid(message: string): Promise<void>
}

async function startUser<Order extends object, News extends object>(
  script: string,
  order: Order,
  onNews: (news: News) => unknown,
): Promise<User> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  closeLater(() => end(child))
  child.send(order)
  await told(child, 'ready')
  const go = async () => {
    const finished = told(child, 'finished')
    const failed = new Promise<never>((_, reject) => {
      child.on('message', (news: News | string) => {
        if (typeof news === 'string') return
        try {
          onNews(news)
        } catch (error) {
          reject(error)
        }
      })
    })
    child.send('go')
    await Promise.race([finished, failed])
  }
  return {
    go,
    send: (message) => void child.send(message, () => {}),
    whenSaid: (message) => told(child, message),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
