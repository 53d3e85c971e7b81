import { type BackendFactory, createRedisBackend } from 'bullmq'
import type { Redis } from 'ioredis'
import { arePlain } from '../send/plain-jobs.js'
import { completeInBatch } from '../worker/complete.js'
import { type ExchangedJobs, JobBatches, type JobExchange, type TakenJob } from '../worker/job-batches.js'
import type { RawJob } from './scripts.js'

type RedisBackend = ReturnType<typeof createRedisBackend>

/**
 * BullMQ's Redis backend, which adds, fetches and finishes the jobs of one tick together. BullMQ does not export its class,
 * so the methods of the object from its factory are replaced.
 */
export function batchingBackends(redis: Redis, prefix: string, capabilities: Capabilities): BackendFactory {
  return (name, options, roles = {}) => {
    const backend = createRedisBackend(name, options, roles)
    const keys = keysOf(`${prefix}:${name}`)
    batchAdds(backend, redis, keys)
    if (roles.withBlockingConnection === true) {
      // BullMQ derives them from the server's version. That check is disabled, because it prints warnings to the console.
      const waitForJob = backend.waitForJob.bind(backend)
      backend.waitForJob = (timeoutSeconds) => {
        Object.assign(backend.blockingConnection?.capabilities ?? {}, capabilities)
        return waitForJob(timeoutSeconds)
      }
      batchExchanges(backend, redis, keys, options as unknown as { concurrency: number; lockDuration: number })
    }
    return backend
  }
}

/** Precision of blocking timeouts, by the server's version. */
export interface Capabilities {
  readonly canDoubleTimeout: boolean
  readonly canBlockFor1Ms: boolean
}

export function capabilitiesOf(version: string): Capabilities {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const number = major * 1_000_000 + minor * 1_000 + patch
  return { canDoubleTimeout: number >= 6_000_000, canBlockFor1Ms: number >= 7_000_008 }
}

type Keys = ReturnType<typeof keysOf>

function keysOf(queue: string) {
  const key = (name: string) => `${queue}:${name}`
  const [wait, active, stalled, delayed] = [key('wait'), key('active'), key('stalled'), key('delayed')]
  return { wait, active, stalled, delayed, id: key('id'), meta: key('meta'), marker: key('marker'), prefix: key('') }
}

function batchAdds(backend: RedisBackend, redis: Redis, { wait, id, meta, marker, prefix }: Keys): void {
  const addJobs = backend.addJobs.bind(backend)
  backend.addJobs = async (entries) => {
    if (!arePlain(entries)) return await addJobs(entries)
    await redis.heddleAddJobs(
      wait,
      id,
      meta,
      marker,
      prefix,
      ...entries.flatMap(({ job, jobId = '' }) => [jobId, job.name, job.data, JSON.stringify(job.opts), job.timestamp]),
    )
    return entries.map(({ jobId = '' }) => jobId)
  }
}

function batchExchanges(
  backend: RedisBackend,
  redis: Redis,
  keys: Keys,
  { concurrency, lockDuration }: { concurrency: number; lockDuration: number },
): void {
  const batches = new JobBatches({
    exchangeJobs: (order) => exchangeJobs(redis, keys, order),
    release: ({ id, token }) => backend.moveJobFromActiveToWait(id, token),
    concurrency,
    lockMs: lockDuration,
  })
  const moveToCompleted = backend.moveToCompleted.bind(backend)
  const waitForJob = backend.waitForJob.bind(backend)
  const close = backend.close.bind(backend)
  /** Once true, no more jobs are fetched: they would have to be released. */
  let isClosing = false
  backend.moveToActive = async () => batches.next(await batches.take())
  backend.waitForJob = (timeoutSeconds) => batches.wait(() => waitForJob(timeoutSeconds))
  backend.moveToCompleted = (...call) => completeInBatch(batches, call, { isClosing, completeOne: moveToCompleted })
  backend.close = async (isForced) => {
    isClosing = true
    // A forced close cannot wait for the server; the locks expire by themselves.
    if (isForced !== true) await batches.releasePrefetched()
    await close(isForced)
  }
}

async function exchangeJobs(
  redis: Redis,
  { wait, active, stalled, delayed, meta, marker, prefix }: Keys,
  { ended, takes, token, lockMs }: JobExchange,
): Promise<ExchangedJobs> {
  const nowMs = Date.now()
  const [kept, nextAtMs, taken] = await redis.heddleTurnJobs(
    wait,
    active,
    stalled,
    delayed,
    meta,
    marker,
    prefix,
    nowMs,
    lockMs,
    takes,
    token,
    ...ended.flatMap((job) => [job.id, job.token]),
  )
  return { kept, nextAtMs, taken: taken.map((job) => toTakenJob(job, nowMs)) }
}

function toTakenJob(raw: RawJob, processedOn: number): TakenJob {
  const [id, token, name, data, opts, timestamp, attemptsStarted, attemptsMade, stalled, deduplicationId, reason] = raw
  return {
    id,
    token,
    name,
    data: data ?? 'null',
    opts: optionsOf(opts ?? '{}'),
    progress: 0,
    timestamp: Number(timestamp),
    processedOn,
    attemptsMade: Number(attemptsMade ?? 0),
    attemptsStarted,
    stalledCounter: Number(stalled ?? 0),
    failedReason: reason ?? '',
    returnvalue: 'null',
    ...(deduplicationId !== null && { deduplicationId }),
  }
}

/** Expands the short names that BullMQ gives to stored options, of which one is used here. */
function optionsOf(text: string): TakenJob['opts'] {
  const { de, ...options } = JSON.parse(text)
  return de === undefined ? options : { ...options, deduplication: de }
}
