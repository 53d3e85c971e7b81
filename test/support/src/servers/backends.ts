import { inject } from 'vitest'
import { migratedDatabase } from './databases.js'

export interface TestBackend {
  kind: 'postgres' | 'redis'
  /** For titles: with the reason if it is skipped. */
  title: string
  /** For `describe.skipIf`. */
  skip: boolean
  /** A server for one test, in the form that `openQueues` takes as its backend. */
  open(): Promise<{ kind: 'postgres' | 'redis'; url: string; drop(): Promise<void> }>
}

/**
 * Every backend of the queues, for one suite that applies to all of them:
 *
 * `describe.each(backends())('queues on $title', ({ skip, open }) => { describe.skipIf(skip)('…', …) })`
 */
export function backends(): TestBackend[] {
  const { redisUrl, redisMissing } = inject('testServers')
  return [
    {
      kind: 'postgres',
      title: 'postgres',
      skip: false,
      async open() {
        const { url, drop } = await migratedDatabase()
        return { kind: 'postgres', url, drop }
      },
    },
    {
      kind: 'redis',
      title: redisUrl === null ? `redis (left out: ${redisMissing})` : 'redis',
      skip: redisUrl === null,
      async open() {
        if (redisUrl === null) throw new Error(`There is no Redis: ${redisMissing}`)
        return { kind: 'redis', url: redisUrl, drop: async () => {} }
      },
    },
  ]
}
