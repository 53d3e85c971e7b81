import { PermanentError, parse, type StageName, stageNames, stages, validationError } from '@heddle/contracts'
import { NIL_ID } from '@heddle/core'
import {
  type DeadLetter,
  findLaggingThreads,
  findPendingStates,
  listDeadLetters,
  loadDeadLetterPayload,
  markRedriven,
  type Store,
  type ThreadWork,
} from '@heddle/store'
import type { Engine } from './engine.js'

interface Selection {
  readonly stage?: StageName
  readonly limit: number
}

/** The dead letters of the project, and those that name no project, newest first. */
export async function readDeadLetters(
  engine: Pick<Engine, 'store' | 'projectId'>,
  { stage, limit }: Selection,
): Promise<DeadLetter[]> {
  const read = (projectId: string) =>
    engine.store.inProject(projectId, (tx) => listDeadLetters(tx, { limit, ...(stage !== undefined && { stage }) }))
  const [own, nobodys] = await Promise.all([read(engine.projectId), read(NIL_ID)])
  return [...own, ...nobodys].sort((left, right) => right.failedAtMs - left.failedAtMs).slice(0, limit)
}

export interface RefusedLetter {
  readonly jobId: string
  readonly reason: string
}

/**
 * Sends dead letters again, oldest first. One that no stage can read stays where it is.
 *
 * @throws RetryableError where the queue or the store went away; what was sent until then is marked
 */
export async function redrive(
  engine: Engine,
  selection: Selection,
): Promise<{ redriven: number; refused: RefusedLetter[] }> {
  const refused: RefusedLetter[] = []
  let redriven = 0
  for (const letter of (await readDeadLetters(engine, selection)).reverse()) {
    try {
      await enqueueAgain(engine, letter)
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error
      refused.push({ jobId: letter.jobId, reason: error.message })
      continue
    }
    // After it was enqueued: a letter that is sent twice does no harm, one that is marked and lost would.
    await engine.store.inProject(letter.projectId, (tx) => markRedriven(tx, { id: letter.id }))
    redriven++
  }
  return { redriven, refused }
}

async function enqueueAgain({ store, queues }: Engine, letter: DeadLetter): Promise<void> {
  const stage = stageNames.find((name) => name === letter.stage)
  if (stage === undefined) throw validationError('stage', `must be one of ${stageNames.join(', ')}`, letter.stage)
  const payload = await store.inProject(letter.projectId, (tx) => loadDeadLetterPayload(tx, letter))
  const subject = `${stage} job`
  switch (stage) {
    case 'ingest':
      return queues.add(stage, parse(stages.ingest.schema, payload, subject))
    case 'assemble':
      throw new PermanentError('CONFLICT', 'its requester has been told; ask for the context again')
    default:
      return queues.rewake(stage, parse(stages[stage].schema, payload, subject))
  }
}

/** Later than any time before which a thread was to be left alone. */
const EVER_MS = Date.UTC(9_999, 0, 1)

/** Wakes the stages of all threads that lag, whatever failed there before. */
export async function wakeLagging(engine: Engine, { stage, limit }: Selection): Promise<number> {
  const work = (await findWork(engine.store, limit)).filter((each) => stage === undefined || each.stage === stage)
  await Promise.all(work.map(({ stage: name, ...thread }) => engine.queues.rewake(name, thread)))
  return work.length
}

async function findWork(store: Store, limit: number): Promise<ThreadWork[]> {
  const [lagging, pending] = await Promise.all([
    findLaggingThreads(store, { limit, nowMs: EVER_MS }),
    findPendingStates(store, { limit, createdBeforeMs: EVER_MS, nowMs: EVER_MS }),
  ])
  const work = new Map([...lagging, ...pending].map((each) => [`${each.stage} ${each.threadId}`, each]))
  return [...work.values()]
}
