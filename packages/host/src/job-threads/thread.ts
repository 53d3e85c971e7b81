import { parentPort, workerData } from 'node:worker_threads'
import { createAssembler } from '@heddle/assemble'
import { errorData, HeddleError, type SummaryCall } from '@heddle/contracts'
import { useTokens } from '@heddle/core'
import { embed } from '@heddle/embed'
import { createSummarizers } from '@heddle/models'
import { compactedEvents, type Pruned, prune } from '@heddle/prune'
import type { Outcome } from '@heddle/queue'
import { remember } from '@heddle/remember'
import { createLogger, ownOutput, systemClock, WorkerThread } from '@heddle/runtime'
import { type NewEvent, openStore } from '@heddle/store'
import { summarize } from '@heddle/summarize'
import { loadConfiguredModules } from '../configured-modules.js'
import { CONNECTIONS_PER_THREAD } from '../connections.js'
import { snapshotsFolderOf } from '../snapshots-folder.js'
import type { JobQuestion, JobRequest, JobResponse, JobThreadData } from './protocol.js'

/*
 * A thread that runs large jobs, with its own store and the handlers of the computing stages. The embedder and the counts of
 * model calls exist once per process: for them it calls the thread that started it.
 */

const BYTES_PER_MEGABYTE = 1024 * 1024
/** A small share, because only the few contexts that select items or recall memories compare vectors. */
const SHARE_OF_VECTOR_CACHE = 0.25

if (parentPort === null) throw new Error('this module runs in a worker thread only')
const thread = new WorkerThread<JobQuestion>(parentPort)
const given: JobThreadData = workerData
const { config, place } = given
const log = createLogger({ level: config.logLevel, name: 'heddle' })
ownOutput(log)
const clock = systemClock
if (given.tokens !== null) useTokens(given.tokens)

const store = openStore({
  url: given.databaseUrl,
  databases: config.databases,
  applicationName: given.applicationName,
  connectionsMax: CONNECTIONS_PER_THREAD,
  vectorCacheBytesMax: config.vectorCacheMegabytes * BYTES_PER_MEGABYTE * SHARE_OF_VECTOR_CACHE,
  log,
})
const summarizers = createSummarizers({
  env: place.env,
  clock,
  log,
  onCall: (call: SummaryCall) => void thread.ask({ kind: 'note-call', call }),
  ...(given.summaryCallMsMax !== null && { limits: { callMsMax: given.summaryCallMsMax, attemptsMax: 1 } }),
})
const { settings } = config
const deps = { store, clock, log, settings, summarizers }
const embedder = given.embedder && {
  ...given.embedder,
  embed: async (texts: readonly string[]) => (await thread.ask({ kind: 'embed', texts })) as Float32Array[],
}
const assembler = createAssembler({
  ...deps,
  snapshotsFolder: snapshotsFolderOf(config),
  cacheBytesMax: given.cacheBytesMax,
  embedder,
})

const ready = loadConfiguredModules(place)

async function carryOut({ stage, job }: JobRequest, publish: (event: NewEvent) => void): Promise<Outcome> {
  // The abort signal stays in the process: the thread always finishes a job that it has begun.
  const { signal } = new AbortController()
  if (stage === 'assemble') return await assembler({ ...job, signal }, { publish })
  if (stage === 'prune') {
    const onPruned = (_: string, pruned: Pruned) => {
      void thread.ask({ kind: 'note-pruned', counts: pruned.counts })
      compactedEvents(pruned).forEach(publish)
    }
    return await prune({ ...job, signal }, { ...deps, onPruned })
  }
  if (stage === 'remember') return await remember({ ...job, signal }, deps)
  if (stage === 'embed') {
    if (embedder === null) throw new TypeError('this process has no embedder')
    return await embed({ ...job, signal }, { ...deps, embedder })
  }
  const publishCompacted = (_: string, threadId: string, subjectId: string) =>
    publish({ topic: 'thread.compacted', threadId, subjectId })
  return await summarize({ ...job, signal }, { ...deps, publishCompacted })
}

thread.serve<JobRequest, JobResponse>({
  async handle(request) {
    const events: NewEvent[] = []
    try {
      await ready
      return { outcome: await carryOut(request, (event) => events.push(event)), events }
    } catch (error) {
      // The process receives only the message.
      if (!(error instanceof HeddleError)) log.error({ error, stage: request.stage }, 'a job failed in its thread')
      return { error: errorData(error) }
    }
  },
  close: () => store.close(),
})
