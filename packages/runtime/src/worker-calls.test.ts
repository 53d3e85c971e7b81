import { errorData } from '@heddle/contracts'
import { expect, onTestFinished, test } from 'vitest'
import type { Clock } from './clock.js'
import { createWorkerCalls, WorkerFailure } from './worker-calls.js'

/** Answers with the request in capitals; some requests have special effects. */
const echo = `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', (message) => {
    if (message === null) return parentPort.close()
    const { id, request } = message
    if (request === 'exit') process.exit(3)
    if (request === 'throw') throw new Error('out of ideas')
    if (request === 'fail') return parentPort.postMessage({ id, failure: { kind: 'bad', message: 'no' } })
    if (request === 'keep silent') return
    parentPort.postMessage({ id, response: request.toUpperCase() })
  })`

/** Never ends by itself. */
const stubborn = `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', () => {})`

function startCalls(source: string, clock?: Pick<Clock, 'after'>) {
  const calls = createWorkerCalls<string, string>({
    url: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    workerData: () => null,
    subject: 'the test thread',
    callTimeoutMs: 30_000,
    clock,
    closeTimeoutMs: 50,
  })
  onTestFinished(() => calls.close())
  return calls
}

test('each call gets the answer to its own request', async () => {
  const calls = startCalls(echo)
  expect(await Promise.all(['a', 'b', 'c'].map((request) => calls.call(request)))).toEqual(['A', 'B', 'C'])
})

test('a failure that the thread reports rejects only that call', async () => {
  const calls = startCalls(echo)
  const [failed, answered] = await Promise.allSettled([calls.call('fail'), calls.call('a')])
  expect(failed).toMatchObject({ status: 'rejected', reason: new WorkerFailure('bad', 'no') })
  expect(answered).toMatchObject({ status: 'fulfilled', value: 'A' })
})

for (const request of ['exit', 'throw']) {
  test(`a thread that dies of "${request}" rejects its calls as retryable, and the next call starts it again`, async () => {
    const calls = startCalls(echo)
    const outcomes = await Promise.allSettled([calls.call(request), calls.call('a')])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { disposition: 'retry', code: 'SERVICE_UNAVAILABLE' },
      })
    }
    expect(await calls.call('b')).toBe('B')
  })
}

test('a crash names its cause', async () => {
  const calls = startCalls(echo)
  const error: unknown = await calls.call('throw').catch((reason: unknown) => reason)
  expect(errorData(error).detail).toContain('out of ideas')
})

test('an aborted call is rejected with the reason at once and the thread continues', async () => {
  const calls = startCalls(echo)
  const abort = new AbortController()
  const silent = calls.call('keep silent', abort.signal)
  abort.abort(new Error('no longer needed'))
  await expect(silent).rejects.toThrow('no longer needed')
  await expect(calls.call('a', abort.signal)).rejects.toThrow('no longer needed')
  expect(await calls.call('a')).toBe('A')
})

test('closing rejects waiting and later calls', async () => {
  const calls = startCalls(echo)
  const silent = calls.call('keep silent')
  await Promise.all([expect(silent).rejects.toMatchObject({ disposition: 'retry' }), calls.close(), calls.close()])
  await expect(calls.call('a')).rejects.toMatchObject({ disposition: 'retry' })
})

test('a thread that does not end by itself is terminated', async () => {
  const calls = startCalls(stubborn)
  const waiting = calls.call('a')
  await Promise.all([expect(waiting).rejects.toMatchObject({ disposition: 'retry' }), calls.close()])
})

test('a thread is started by the first call, and not by closing before it', async () => {
  let started = 0
  const count = () => void started++
  process.on('worker', count)
  onTestFinished(() => void process.off('worker', count))
  await startCalls(echo).close()
  expect(started).toBe(0)
  expect(await startCalls(echo).call('a')).toBe('A')
  expect(started).toBe(1)
})

test('a thread that does not answer in time is terminated, all of its calls are rejected, and the next call starts it again', async () => {
  const deadlines: (() => void)[] = []
  const after: Clock['after'] = (_ms, callback) => {
    deadlines.push(callback)
    return () => void deadlines.splice(deadlines.indexOf(callback), 1)
  }
  const calls = startCalls(echo, { after })
  expect(await calls.call('a')).toBe('A')
  expect(deadlines).toEqual([])
  const waiting = Promise.allSettled([calls.call('keep silent'), calls.call('keep silent')])
  deadlines[0]?.()
  const outcomes = await waiting
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'TIMEOUT', disposition: 'retry' } })
  }
  expect(calls.pendingCount).toBe(0)
  expect(await calls.call('b')).toBe('B')
})
