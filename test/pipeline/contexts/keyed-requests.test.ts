import { ConflictError } from '@heddle/contracts'
import { createClient } from '@heddle/engine'
import { expect, test } from 'vitest'
import { pipelineOfTests } from '../support.js'

const tests = pipelineOfTests()
const key = { idempotencyKey: 'turn-1' }

/** A client of a project, with a thread of one message. */
async function projectWith(project: string, thread: string) {
  const { store, queues } = tests.pipeline
  const client = createClient({ store, queues, project })
  await client.messages.append({
    agent: 'weaver',
    thread,
    messages: [{ role: 'user', content: `Warp in ${project}.` }],
  })
  return client
}

test('projects that use the same key for threads of the same name get contexts of their own', async () => {
  await tests.start()
  for (const project of ['north', 'south']) {
    const client = await projectWith(project, 'loom')
    const { messages } = await client.contexts.build({ thread: 'loom' }, { ...key, deadlineMs: 10_000 })
    expect(JSON.stringify(messages)).toContain(`Warp in ${project}.`)
  }
})

test('of two requests under one key at once none gets the context of the other', async () => {
  await tests.start()
  const client = await projectWith('both', 'loom')
  const build = (message: string) => client.contexts.build({ thread: 'loom', message }, { ...key, deadlineMs: 10_000 })
  const built = await Promise.allSettled([build('ONE'), build('TWO')])
  const fulfilled = built.flatMap((one, index) => (one.status === 'fulfilled' ? [{ context: one.value, index }] : []))
  expect(fulfilled).toHaveLength(1)
  for (const { context, index } of fulfilled) expect(JSON.stringify(context.messages)).toContain(['ONE', 'TWO'][index])
  expect(built.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))).toEqual([expect.any(ConflictError)])
})

test('a repeat with more time is answered although the job of the attempt before was still waiting', async () => {
  await tests.start(['ingest'])
  const client = await projectWith('late', 'loom')
  const build = (deadlineMs: number) => client.contexts.build({ thread: 'loom' }, { ...key, deadlineMs })
  await expect(build(150)).rejects.toMatchObject({ code: 'TIMEOUT' })
  const repeated = build(30_000)
  // Until it has written its row, whose job is merged with that of the first attempt.
  await expect
    .poll(async () => (await client.contexts.list({ thread: 'loom' })).items.map(({ status }) => status))
    .toEqual(['requested'])
  const startedAtMs = performance.now()
  await tests.start(['assemble'])
  expect(JSON.stringify((await repeated).messages)).toContain('Warp in late.')
  expect(performance.now() - startedAtMs).toBeLessThan(8_000)
})
