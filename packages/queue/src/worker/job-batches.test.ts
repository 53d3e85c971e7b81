import { expect, test } from 'vitest'
import { type ExchangedJobs, JobBatches, type JobExchange, type TakenJob } from './job-batches.js'

const job = (id: string): TakenJob =>
  ({ id, token: `${id}-token`, name: 'job', data: '', opts: {}, attemptsMade: 0, progress: 0 }) as unknown as TakenJob

/** A server where some jobs wait, and what it was asked. */
function setUp(waiting: readonly string[], { lockMs = 60_000 } = {}) {
  const left = [...waiting]
  const orders: JobExchange[] = []
  const givenBack: string[] = []
  let answer = async ({ takes }: JobExchange): Promise<ExchangedJobs> => ({
    kept: [],
    taken: left.splice(0, takes).map(job),
    nextAtMs: 0,
  })
  const turns = new JobBatches({
    exchangeJobs: (order) => {
      orders.push(order)
      return answer(order)
    },
    release: async ({ id }) => void givenBack.push(id),
    lockMs,
    concurrency: 32,
  })
  return {
    turns,
    left,
    orders,
    givenBack,
    answerWith: (next: typeof answer) => {
      answer = next
    },
  }
}

test('who asks gets a job, and the next one without a round trip', async () => {
  const { turns, orders } = setUp(['1', '2', '3'])
  expect((await turns.take())?.id).toBe('1')
  expect((await turns.take())?.id).toBe('2')
  expect(orders.map(({ takes }) => takes)).toEqual([2])
  expect((await turns.take())?.id).toBe('3')
  // The server gave fewer than it was asked for: nothing is left.
  expect(await turns.take()).toBeUndefined()
  expect(orders).toHaveLength(2)
})

test('what was said before a wait holds no more after it', async () => {
  const { turns, left, orders } = setUp(['1'])
  await turns.take()
  left.push('2')
  expect(await turns.wait(async () => 'word')).toBe('word')
  expect((await turns.take())?.id).toBe('2')
  expect(orders).toHaveLength(2)
})

test('what slots that finish are told does not keep another from asking', async () => {
  const { turns, left } = setUp(['1'])
  await Promise.all([turns.finish('a', 'a-token', true), turns.finish('b', 'b-token', true)])
  left.push('2')
  expect((await turns.take())?.id).toBe('2')
})

test('when the next retry is due, a round trip that got all it asked for does not know', async () => {
  const { turns, answerWith } = setUp([])
  answerWith(async () => ({ kept: [], taken: [job('1')], nextAtMs: 5_000 }))
  await turns.take()
  answerWith(async () => ({ kept: [], taken: [job('2')], nextAtMs: 0 }))
  await turns.finish('1', '1-token', true)
  expect(turns.next(await turns.take())).toEqual([null, '', 0, 5_000])
})

test('nobody waits for the server while jobs are at hand', async () => {
  const { turns } = setUp(['1', '2'])
  await turns.take()
  expect(await turns.wait(() => Promise.reject(new Error('not asked')))).toEqual({ member: '0', score: 0 })
})

test('slots that finish together share what is at hand, and take the rest', async () => {
  const { turns, orders } = setUp(['1', '2', '3'])
  await turns.take()
  const finished = await Promise.all([turns.finish('a', 'a-token', true), turns.finish('b', 'b-token', true)])
  expect(finished.map(({ taken }) => taken?.id)).toEqual(['2', '3'])
  expect(orders.at(-1)).toMatchObject({ takes: 1, ended: [{ id: 'a' }, { id: 'b' }] })
})

test('a job at hand outlives a round trip that fails', async () => {
  const { turns, answerWith, left } = setUp(['1', '2'])
  await turns.take()
  const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
  answerWith(() => Promise.reject(away))
  await expect(turns.finish('1', '1-token', true)).rejects.toBe(away)
  expect(left).toEqual([])
  expect((await turns.take())?.id).toBe('2')
})

test('where one job is not gone, the next goes to the slot whose job is', async () => {
  const { turns, answerWith } = setUp([])
  answerWith(async () => ({ kept: ['a'], taken: [job('next')], nextAtMs: 0 }))
  const [a, b] = await Promise.all([turns.finish('a', 'lost', true), turns.finish('b', 'b-token', true)])
  expect(a).toEqual({ isGone: false, taken: undefined })
  expect(b).toMatchObject({ isGone: true, taken: { id: 'next' } })
})

test('an error of the server that is no outage leaves finished jobs to BullMQ', async () => {
  const { turns, answerWith } = setUp([])
  answerWith(() => Promise.reject(new Error('refused')))
  expect(await turns.finish('a', 'a-token', true)).toEqual({ isGone: false, taken: undefined })
  await expect(turns.take()).rejects.toThrow('refused')
})

test('what nobody begins with goes back: when its time is over, and when the worker closes', async () => {
  const late = setUp(['1', '2', '3', '4'], { lockMs: 0 })
  await late.turns.take()
  expect((await late.turns.take())?.id).toBe('3')
  expect(late.givenBack).toEqual(['2'])
  const closing = setUp(['1', '2'])
  await closing.turns.take()
  await closing.turns.leave()
  expect(closing.givenBack).toEqual(['2'])
})
