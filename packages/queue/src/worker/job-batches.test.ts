import { expect, test } from 'vitest'
import { type ExchangedJobs, JobBatches, type JobExchange, type TakenJob } from './job-batches.js'

const job = (id: string): TakenJob =>
  ({ id, token: `${id}-token`, name: 'job', data: '', opts: {}, attemptsMade: 0, progress: 0 }) as unknown as TakenJob

/** A server with waiting jobs, and the requests that it received. */
function setUp(waiting: readonly string[], { lockMs = 60_000 } = {}) {
  const left = [...waiting]
  const orders: JobExchange[] = []
  const released: string[] = []
  let answer = async ({ takes }: JobExchange): Promise<ExchangedJobs> => ({
    kept: [],
    taken: left.splice(0, takes).map(job),
    nextAtMs: 0,
  })
  const batches = new JobBatches({
    exchangeJobs: (order) => {
      orders.push(order)
      return answer(order)
    },
    release: async ({ id }) => void released.push(id),
    lockMs,
    concurrency: 32,
  })
  return {
    batches,
    left,
    orders,
    released,
    answerWith: (next: typeof answer) => {
      answer = next
    },
  }
}

test('a request gets a job, and the next request gets a prefetched one without a round trip', async () => {
  const { batches, orders } = setUp(['1', '2', '3'])
  expect((await batches.take())?.id).toBe('1')
  expect((await batches.take())?.id).toBe('2')
  expect(orders.map(({ takes }) => takes)).toEqual([2])
  expect((await batches.take())?.id).toBe('3')
  // The server returned fewer jobs than requested: the queue is empty.
  expect(await batches.take()).toBeUndefined()
  expect(orders).toHaveLength(2)
})

test('after a wait the queue is no longer assumed to be empty', async () => {
  const { batches, left, orders } = setUp(['1'])
  await batches.take()
  left.push('2')
  expect(await batches.wait(async () => 'marker')).toBe('marker')
  expect((await batches.take())?.id).toBe('2')
  expect(orders).toHaveLength(2)
})

test('a round trip of finishing slots that gets no job does not mark the queue as empty', async () => {
  const { batches, left } = setUp(['1'])
  await Promise.all([batches.finish('a', 'a-token', true), batches.finish('b', 'b-token', true)])
  left.push('2')
  expect((await batches.take())?.id).toBe('2')
})

test('a full batch keeps the known time of the next retry', async () => {
  const { batches, answerWith } = setUp([])
  answerWith(async () => ({ kept: [], taken: [job('1')], nextAtMs: 5_000 }))
  await batches.take()
  answerWith(async () => ({ kept: [], taken: [job('2')], nextAtMs: 0 }))
  await batches.finish('1', '1-token', true)
  expect(batches.next(await batches.take())).toEqual([null, '', 0, 5_000])
})

test('a wait returns at once while prefetched jobs remain', async () => {
  const { batches } = setUp(['1', '2'])
  await batches.take()
  expect(await batches.wait(() => Promise.reject(new Error('not expected')))).toEqual({ member: '0', score: 0 })
})

test('slots that finish together get the prefetched jobs first, and the others from the server', async () => {
  const { batches, orders } = setUp(['1', '2', '3'])
  await batches.take()
  const finished = await Promise.all([batches.finish('a', 'a-token', true), batches.finish('b', 'b-token', true)])
  expect(finished.map(({ taken }) => taken?.id)).toEqual(['2', '3'])
  expect(orders.at(-1)).toMatchObject({ takes: 1, ended: [{ id: 'a' }, { id: 'b' }] })
})

test('a failed round trip does not lose a prefetched job', async () => {
  const { batches, answerWith, left } = setUp(['1', '2'])
  await batches.take()
  const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
  answerWith(() => Promise.reject(away))
  await expect(batches.finish('1', '1-token', true)).rejects.toBe(away)
  expect(left).toEqual([])
  expect((await batches.take())?.id).toBe('2')
})

test('the next job goes to the slot whose job was removed, not to the one whose lock was lost', async () => {
  const { batches, answerWith } = setUp([])
  answerWith(async () => ({ kept: ['a'], taken: [job('next')], nextAtMs: 0 }))
  const [a, b] = await Promise.all([batches.finish('a', 'lost', true), batches.finish('b', 'b-token', true)])
  expect(a).toEqual({ isGone: false, taken: undefined })
  expect(b).toMatchObject({ isGone: true, taken: { id: 'next' } })
})

test('after a server error other than an outage BullMQ finishes the jobs', async () => {
  const { batches, answerWith } = setUp([])
  answerWith(() => Promise.reject(new Error('refused')))
  expect(await batches.finish('a', 'a-token', true)).toEqual({ isGone: false, taken: undefined })
  await expect(batches.take()).rejects.toThrow('refused')
})

test('prefetched jobs that were not begun are released when they expire and when the worker closes', async () => {
  const late = setUp(['1', '2', '3', '4'], { lockMs: 0 })
  await late.batches.take()
  expect((await late.batches.take())?.id).toBe('3')
  expect(late.released).toEqual(['2'])
  const closing = setUp(['1', '2'])
  await closing.batches.take()
  await closing.batches.releasePrefetched()
  expect(closing.released).toEqual(['2'])
})
