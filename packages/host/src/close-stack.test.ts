import { createLogger } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { CloseStack } from './close-stack.js'

const log = createLogger({ level: 'silent', name: 'test' })

test('resources are closed once, in reverse order, although one close fails and one hangs', async () => {
  const closed: string[] = []
  const stack = new CloseStack(log)
  stack.push('server', 1_000, async () => closed.push('server'))
  stack.push('store', 1_000, async () => {
    closed.push('store')
    throw new Error('the store is gone')
  })
  stack.push('queues', 5, () => new Promise(() => closed.push('queues')))
  await Promise.all([stack.close(), stack.close()])
  expect(closed).toEqual(['queues', 'store', 'server'])
})
