import type { AssembleJob, PrunedCounts, WakeJob } from '@heddle/contracts'
import type { Job, WorkSize } from '@heddle/queue'
import { loadConfig } from '@heddle/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { createJobThreads } from './job-threads.js'

const counts: PrunedCounts = { compactions: 1, condensed: 2, stubbed: 0, removed: 1, tokensSaved: 900 }

/** Returns the thread of a job as the reason of a skipped outcome; some jobs end the thread, or are refused. */
const echo = `
  import { parentPort, threadId, workerData } from 'node:worker_threads'
  parentPort.on('message', (message) => {
    if (message === null) return parentPort.close()
    if ('questionId' in message) return parentPort.postMessage({ id: 1, response: skipped(JSON.stringify(message.reply)) })
    const { id, request: { stage, job } } = message
    if (job.jobId === 'exit') process.exit(3)
    if (job.jobId === 'embed') return parentPort.postMessage({ questionId: id, question: { kind: 'embed', texts: ['a'] } })
    if (job.jobId === 'pruned')
      return parentPort.postMessage({ questionId: id, question: { kind: 'note-pruned', counts: ${JSON.stringify(counts)} } })
    if (job.jobId === 'gone') return parentPort.postMessage({ id, response: { error: { code: 'NOT_FOUND', detail: 'gone' } } })
    parentPort.postMessage({ id, response: skipped([threadId, stage, workerData.databaseUrl].join(' ')) })
  })
  const skipped = (reason) => ({ outcome: { kind: 'skipped', reason, next: [] }, events: [{ topic: 'context.built' }] })`

function openThreads(onPruned?: (counts: PrunedCounts) => void) {
  const threads = createJobThreads({
    config: loadConfig({ env: {}, cwd: '/' }),
    place: { env: {}, cwd: '/' },
    databaseUrl: 'postgres://server/heddle',
    applicationName: 'heddle/test/1/',
    summaryCallMsMax: null,
    embedder: { model: 'test', dimensions: 1, embed: async (texts) => texts.map(() => new Float32Array([1])) },
    queues: { noteCall: () => {} },
    onPruned,
    url: new URL(`data:text/javascript,${encodeURIComponent(echo)}`),
  })
  onTestFinished(() => threads.close())
  return threads
}

const wake: WakeJob = { projectId: 'project', threadId: 'thread' }
const context: AssembleJob = { projectId: 'project', contextId: 'context' }
function jobOf<Payload>(payload: Payload, jobId = '1'): Job<Payload> {
  return { payload, jobId, attempt: 1, attemptsMax: 3, signal: new AbortController().signal }
}
const small: WorkSize = { messages: 500, tokens: 50_000 }
const huge: WorkSize = { messages: 10_000, tokens: 1_000_000 }

test('contexts of ordinary size have their own thread; very large ones share one with background work', async () => {
  const { assemble, prune, summarize, embed, remember } = openThreads()
  const reasons = []
  for (const { outcome } of [
    await assemble.carryOut(jobOf(context), small),
    await assemble.carryOut(jobOf(context), huge),
    await prune.carryOut(jobOf(wake), huge),
    await summarize.carryOut(jobOf(wake), huge),
    await embed.carryOut(jobOf(wake), huge),
    await remember.carryOut(jobOf(wake), huge),
  ])
    reasons.push(outcome.kind === 'skipped' ? outcome.reason.split(' ') : [])
  const [ordinary, ...others] = reasons
  expect(ordinary?.slice(1)).toEqual(['assemble', 'postgres://server/heddle'])
  expect(others.map(([, stage]) => stage)).toEqual(['assemble', 'prune', 'summarize', 'embed', 'remember'])
  expect(new Set(others.map(([thread]) => thread)).size).toBe(1)
  expect(others[0]?.[0]).not.toBe(ordinary?.[0])
})

test('a job returns its events, and fails with the error of its handler', async () => {
  const { assemble } = openThreads()
  expect(await assemble.carryOut(jobOf(context), small)).toMatchObject({ events: [{ topic: 'context.built' }] })
  await expect(assemble.carryOut(jobOf(context, 'gone'), small)).rejects.toMatchObject({
    code: 'NOT_FOUND',
    disposition: 'give-up',
  })
})

test('when a thread dies its jobs fail with a retryable error, and the next job starts another thread', async () => {
  const { assemble } = openThreads()
  await expect(assemble.carryOut(jobOf(context, 'exit'), small)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    disposition: 'retry',
  })
  expect(await assemble.carryOut(jobOf(context), small)).toMatchObject({ outcome: { kind: 'skipped' } })
})

test('a thread embeds texts with the embedder of its process', async () => {
  const { assemble } = openThreads()
  const { outcome } = await assemble.carryOut(jobOf(context, 'embed'), small)
  expect(outcome).toMatchObject({ reason: '[{"0":1}]' })
})

test('a prune job in a thread returns its events, and its counts go to its process', async () => {
  const noted: PrunedCounts[] = []
  const { prune } = openThreads((pruned) => noted.push(pruned))
  expect(await prune.carryOut(jobOf(wake, 'pruned'), huge)).toMatchObject({ events: [{ topic: 'context.built' }] })
  expect(noted).toEqual([counts])
})
