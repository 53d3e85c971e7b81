import { setTimeout as wait } from 'node:timers/promises'
import { closeLater } from '@heddle/test-support/closing'
import { PRODUCERS } from '../production.js'
import type { Size } from '../sizes.js'
import { type Books, startProducer, startRequester, type User } from '../users/users.js'
import type { Installation } from './installation.js'
import type { Renewal, VersionPlace } from './versioned-client.js'
import type { Version } from './versions.js'

/** Over which way the users of a run reach the pipeline. */
export type Way = 'http' | 'queue'

export interface CrowdOptions {
  readonly seed: number
  readonly size: Size
  readonly version: Version
  /** The books of the users of each way, which share a ledger. */
  readonly books: Readonly<Record<Way, Books>>
}

/** Users that append and request contexts at a steady rate, half of them over HTTP and half over the queue, with the SDK of a version. */
export class Crowd {
  readonly #users: readonly User[]
  readonly #requesters: readonly User[]
  readonly #working: Promise<unknown>
  readonly #size: Size
  #isEnough = false

  private constructor(producers: readonly User[], requesters: readonly User[], size: Size) {
    this.#users = [...producers, ...requesters]
    this.#requesters = requesters
    this.#size = size
    this.#working = Promise.all(this.#users.map((user) => user.go()))
    // `whenFinished` reports it.
    this.#working.catch(() => {})
  }

  /** The producers work from now on. */
  static async start({ gateway, queue }: Installation, { seed, size, version, books }: CrowdOptions): Promise<Crowd> {
    const placeOf = (way: Way, isDirect = true): VersionPlace => ({
      seed,
      version: version.folder,
      connect: way === 'http' ? gateway : queue,
      environment: { HEDDLE_DIRECT_APPENDS: String(isDirect) },
    })
    const producers: User[] = []
    const requesters: User[] = []
    // One by one: a machine of two cores also runs the services.
    for (let producer = 0; producer < PRODUCERS; producer++) {
      const way = producer % 2 === 0 ? 'http' : 'queue'
      // Both ways of appending over the queue.
      const place = placeOf(way, producer === 1)
      producers.push(await startProducer({ ...place, size, producer }, books[way]))
    }
    for (const way of ['http', 'queue'] as const)
      requesters.push(await startRequester({ ...placeOf(way), size, getsAgain: true }, books[way]))
    const crowd = new Crowd(producers, requesters, size)
    closeLater(async () => {
      crowd.#isEnough = true
    })
    return crowd
  }

  /** Requests contexts from now on, which needs threads. */
  async requestContexts(): Promise<void> {
    for (let number = 0; number < this.#size.contexts && !this.#isEnough; number++) {
      this.#requesters[number % this.#requesters.length]?.send('next')
      await wait(this.#size.contextsEveryMs ?? 0)
    }
  }

  /** Gives all users the SDK of another version. */
  async renew({ folder }: Version): Promise<void> {
    const renewal: Renewal = { version: folder }
    const renewed = this.#users.map((user) => user.whenSaid('renewed'))
    for (const user of this.#users) user.send(renewal)
    await Promise.all(renewed)
  }

  /** Resolves once every call has ended. */
  async finish(): Promise<void> {
    this.#isEnough = true
    for (const user of this.#users) user.send('enough')
    await this.#working
  }

  /** @throws Error once a user cannot continue */
  async whenFinished(): Promise<void> {
    await this.#working
  }
}
