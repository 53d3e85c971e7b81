import { errorData, type StageName, stageNames, stages } from '@heddle/contracts'
import { NIL_ID } from '@heddle/core'
import {
  type DeadLetter,
  findLaggingThreads,
  findPendingStates,
  listDeadLetters,
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

/** Sends dead letters again, oldest first. One that no stage can read stays where it is. */
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
      refused.push({ jobId: letter.jobId, reason: errorData(error).detail })
      continue
    }
    // After it was enqueued: a letter that is sent twice does no harm, one that is marked and lost would.
    await engine.store.inProject(letter.projectId, (tx) => markRedriven(tx, { id: letter.id }))
    redriven++
  }
  return { redriven, refused }
}

async function enqueueAgain({ queues }: Engine, letter: DeadLetter): Promise<void> {
  const stage = stageNames.find((name) => name === letter.stage)
  if (stage === undefined) throw new Error(`there is no stage ${letter.stage}`)
  switch (stage) {
    case 'ingest':
      return queues.add(stage, stages.ingest.schema.parse(letter.payload))
    case 'assemble':
      return queues.add(stage, stages.assemble.schema.parse(letter.payload))
    default:
      return queues.rewake(stage, stages[stage].schema.parse(letter.payload))
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
