import type { AssembleJob, ContextJob } from '@heddle/contracts'
import {
  type DeadLetter,
  hereOrElsewhere,
  type Job,
  type LargeJobs,
  type Outcome,
  type Queues,
  type WorkerHandle,
} from '@heddle/queue'
import { type Logger, ProjectSlots } from '@heddle/runtime'
import { EventLog, type NewEvent, storeEvents } from '@heddle/store'
import { type AssemblerDeps, createAssembler } from './assembler.js'
import { BuildPaces } from './build-pace.js'
import { refuseExpired } from './load/refuse-expired.js'
import { KnownLarge } from './memory/known-large.js'
import { recordFailure } from './record-failure.js'

export { type Assembler, type AssemblerDeps, createAssembler } from './assembler.js'
export { type AssembleDeps, assemble } from './handler.js'
export type { LoadedForBuild } from './load/load.js'
export { BuildInputCache } from './memory/build-input-cache.js'
export { ContextMaker } from './memory/context-maker.js'
export { PreviousContextCache } from './memory/previous-contexts.js'
export { TokenCounter } from './memory/token-counter.js'
export { createPreview, type Preview } from './preview.js'

/**
 * Contexts of one project that a worker builds at once: few beside other projects, and one under heavy load, so that others
 * wait for little more than the running build. A project that is alone has as many as may wait for a database or an embedder,
 * while more would only slow down each other. Snapshots wait for a model and delay nobody.
 */
const SLOTS = { calm: 4, crowded: 1, alone: 16 }

export interface AssembleWorkerDeps extends AssemblerDeps {
  readonly queues: Queues
  readonly log: Logger
  readonly recordDeadLetter: (letter: DeadLetter) => Promise<void>
  readonly concurrency?: number
  /** Runs large contexts and snapshots. Default: this process. */
  readonly large?: LargeJobs<AssembleJob, NewEvent>
}

export async function createAssembleWorker(deps: AssembleWorkerDeps): Promise<WorkerHandle> {
  const events = new EventLog({
    ...deps,
    append: (projectId, drafts) => storeEvents(deps.store, { projectId, events: drafts }),
    publish: (event) => deps.queues.publish(event),
  })
  const assembler = createAssembler(deps)
  const known = new KnownLarge(deps.clock)
  const slots = new ProjectSlots({ ...SLOTS, clock: deps.clock })
  const large = deps.large && known.remembering(deps.large)
  const paces = new BuildPaces(deps.clock)
  const carryOut = (job: Job<AssembleJob>, { neededMs = 0, elsewhere = () => {} } = {}): Promise<Outcome> => {
    const publish = (event: NewEvent) => events.add(job.payload.projectId, event)
    return hereOrElsewhere({
      job,
      large: large && {
        sizeMax: large.sizeMax,
        carryOut(one, size) {
          elsewhere()
          return large.carryOut(one, size)
        },
      },
      publish,
      async here(sizeMax) {
        if (sizeMax !== undefined) known.refuse(job.payload)
        return await assembler(job, { publish, sizeMax, neededMs })
      },
    })
  }
  const timed = async (job: Job<ContextJob>, neededMs: number): Promise<Outcome> => {
    const { asked, projectId } = job.payload
    if (asked) refuseExpired(asked, deps.clock, neededMs)
    const beganAtMs = deps.clock.monotonicMs()
    let place: 'here' | 'elsewhere' = 'here'
    const elsewhere = () => {
      place = 'elsewhere'
    }
    // Those whose request is in a row are checked once it is read.
    const outcome = await carryOut(job, { neededMs: asked ? 0 : neededMs, elsewhere })
    if (outcome.kind === 'done') paces.of(projectId, place).note(deps.clock.monotonicMs() - beganAtMs)
    return outcome
  }
  const build = (job: Job<ContextJob>): Promise<Outcome> => {
    const pace = () => paces.of(job.payload.projectId, known.has(job.payload) ? 'elsewhere' : 'here')
    return slots.run(job.payload.projectId, () => pace().run((neededMs) => timed(job, neededMs)), job.signal)
  }
  const worker = await deps.queues.defineWorker({
    ...deps,
    stage: 'assemble',
    // A worker thread that died could not record the reason.
    handler: ({ payload, ...job }) =>
      'snapshotId' in payload ? carryOut({ payload, ...job }) : recordFailure({ payload, ...job }, deps, build),
  })
  return {
    ...worker,
    async close(options) {
      await worker.close(options)
      await events.close()
    },
  }
}
