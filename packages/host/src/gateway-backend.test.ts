import { createClient, KnownContexts } from '@heddle/engine'
import type { Queues } from '@heddle/queue'
import { createLogger } from '@heddle/runtime'
import type { Store } from '@heddle/store'
import { expect, test } from 'vitest'
import { gatewayBackendOf } from './gateway-backend.js'

test('all clients of a gateway remember contexts in one place, those of each project under keys of its own', async () => {
  const keys: string[] = []
  class Watched extends KnownContexts {
    override find(key: string) {
      keys.push(key)
      return super.find(key)
    }
  }
  const refused = new Error('no queues here')
  const queues = {
    acquireShare: () => () => {},
    expectReply: () => {
      throw refused
    },
  } as unknown as Queues
  const log = createLogger({ level: 'silent', name: 'test' })
  const shared = { store: {} as Store, queues, log, directAppends: null, reranker: null, knownContexts: new Watched() }
  const backend = gatewayBackendOf({
    ...shared,
    client: createClient({ ...shared, project: 'one' }),
    config: { project: 'one', settings: {}, settingLayers: [] },
    projectId: 'one',
    embedder: () => Promise.reject(refused),
    checkReady: async () => {},
  })
  for (const project of ['one', 'two', 'three'])
    await expect(backend.clientOf(project).contexts.build({ thread: 'cloth' })).rejects.toBe(refused)
  expect(new Set(keys).size).toBe(3)
})
