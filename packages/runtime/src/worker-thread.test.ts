import { MessageChannel } from 'node:worker_threads'
import { PermanentError } from '@heddle/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { createWorkerCalls, type WorkerAnswer, type WorkerQuestion } from './worker-calls.js'
import { WorkerThread } from './worker-thread.js'

/** Asks the calling thread for each request, and returns its answer. */
const asking = `
  import { parentPort } from 'node:worker_threads'
  let call = 0
  parentPort.on('message', (message) => {
    if (message === null) return parentPort.close()
    if ('questionId' in message) {
      const response = 'error' in message ? 'refused: ' + message.error.code : message.reply
      return parentPort.postMessage({ id: message.questionId, response })
    }
    parentPort.postMessage({ questionId: message.id, question: message.request })
  })`

function startAsking(answer?: (question: string) => Promise<unknown>) {
  const calls = createWorkerCalls<string, unknown, string>({
    url: new URL(`data:text/javascript,${encodeURIComponent(asking)}`),
    workerData: () => null,
    subject: 'the test thread',
    callTimeoutMs: 30_000,
    closeTimeoutMs: 50,
    answer,
  })
  onTestFinished(() => calls.close())
  return calls
}

test('a thread asks its caller during its work, and gets the answer or its error', async () => {
  const calls = startAsking(async (question) => {
    if (question === 'bad') throw new PermanentError('FORBIDDEN', 'no')
    return question.toUpperCase()
  })
  expect(await Promise.all(['a', 'bad', 'b'].map((request) => calls.call(request)))).toEqual([
    'A',
    'refused: FORBIDDEN',
    'B',
  ])
})

test('a thread that asks without a function to answer gets an error', async () => {
  expect(await startAsking().call('a')).toBe('refused: INTERNAL')
})

type Sent = WorkerAnswer<string> | WorkerQuestion<string>

function serveOn(handle: (request: string, thread: WorkerThread<string>) => Promise<string>) {
  const { port1: outside, port2: inside } = new MessageChannel()
  onTestFinished(() => outside.close())
  const sent: Sent[] = []
  const waiting: (() => void)[] = []
  outside.on('message', (message: Sent) => {
    sent.push(message)
    waiting.shift()?.()
  })
  const next = async (count: number): Promise<Sent[]> => {
    while (sent.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
    return sent
  }
  const thread = new WorkerThread<string>(inside)
  const ended = new Promise<void>((resolve) => outside.once('close', resolve))
  const steps: string[] = []
  thread.serve<string, string>({
    handle: (request) => handle(request, thread),
    close: async () => void steps.push('closed'),
  })
  return { outside, next, ended, steps }
}

test('a thread serves several calls at once; an error fails only its own call', async () => {
  let letFirstGo = () => {}
  const { outside, next } = serveOn(async (request) => {
    if (request === 'first')
      await new Promise<void>((resolve) => {
        letFirstGo = resolve
      })
    if (request === 'bad') throw new RangeError('too far')
    letFirstGo()
    return `did ${request}`
  })
  for (const [index, request] of ['first', 'bad', 'second'].entries()) outside.postMessage({ id: index + 1, request })
  expect((await next(3)).toSorted((one, other) => ('id' in one && 'id' in other ? one.id - other.id : 0))).toEqual([
    { id: 1, response: 'did first' },
    { id: 2, failure: { kind: 'RangeError', message: 'too far' } },
    { id: 3, response: 'did second' },
  ])
})

test('a thread gets the reply that belongs to its question', async () => {
  const { outside, next } = serveOn(async (request, thread) => `heard ${await thread.ask(`about ${request}`)}`)
  outside.postMessage({ id: 1, request: 'a' })
  outside.postMessage({ id: 2, request: 'b' })
  await next(2)
  outside.postMessage({ questionId: 2, reply: 'second' })
  outside.postMessage({ questionId: 1, reply: 'first' })
  expect((await next(4)).slice(2)).toEqual([
    { id: 2, response: 'heard second' },
    { id: 1, response: 'heard first' },
  ])
})

test('a thread that is asked to end finishes its work, then closes its resources', async () => {
  let finish = () => {}
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const { outside, next, ended, steps } = serveOn(async (request) => {
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    begin()
    await finished
    steps.push('finished')
    return request
  })
  outside.postMessage({ id: 1, request: 'a' })
  outside.postMessage(null)
  await begun
  expect(steps).toEqual([])
  finish()
  await next(1)
  await ended
  expect(steps).toEqual(['finished', 'closed'])
})
