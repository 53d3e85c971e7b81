import type { Store } from '@heddle/store'
import { expect, test } from 'vitest'
import { createClient } from '../client.js'

test('a client without queues is created, and only operations on queues fail', async () => {
  const client = createClient({ store: {} as Store, queues: null, project: 'tests' })
  await expect(client.stages.list()).rejects.toThrow('this client was created without queues')
})
