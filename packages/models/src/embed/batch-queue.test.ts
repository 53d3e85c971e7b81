import type { WorkerCalls } from '@heddle/runtime'
import { expect, test } from 'vitest'
import { BatchQueue } from './batch-queue.js'

/** A worker thread whose answers the test sends by hand. */
function manualThread() {
  const open: { request: string; answer: (text: string) => void }[] = []
  const thread: WorkerCalls<string, string> = {
    get pendingCount() {
      return open.length
    },
    call: (request) =>
      new Promise((resolve) => {
        const entry = { request, answer: (text: string) => resolve(text) }
        open.push(entry)
      }),
    close: async () => {},
  }
  const finish = async () => {
    const first = open.shift()
    first?.answer(first.request.toUpperCase())
    await new Promise(setImmediate)
  }
  return { thread, open, finish }
}

const patient = { isUrgent: false, signal: undefined }
const urgent = { isUrgent: true, signal: undefined }

test('a thread has one running and one waiting batch, and urgent batches overtake the rest', async () => {
  const { thread, open, finish } = manualThread()
  const queue = new BatchQueue([thread])
  const bulk = ['a', 'b', 'c', 'd'].map((request) => queue.run(request, patient))
  const question = queue.run('question', urgent)
  await new Promise(setImmediate)
  expect(open.map(({ request }) => request)).toEqual(['a', 'b'])
  await finish()
  expect(open.map(({ request }) => request)).toEqual(['b', 'question'])
  await finish()
  await finish()
  expect(await question).toBe('QUESTION')
  await finish()
  await finish()
  expect(await Promise.all(bulk)).toEqual(['A', 'B', 'C', 'D'])
})

test('batches are spread over the threads', async () => {
  const [first, second] = [manualThread(), manualThread()]
  const queue = new BatchQueue([first.thread, second.thread])
  for (const request of ['a', 'b', 'c', 'd', 'e']) void queue.run(request, patient)
  await new Promise(setImmediate)
  expect(first.open.map(({ request }) => request)).toEqual(['a', 'c'])
  expect(second.open.map(({ request }) => request)).toEqual(['b', 'd'])
})
