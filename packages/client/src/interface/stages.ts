import type { Scaling, StageBehind, StageName, StageState, StageSwitched } from '@heddle/contracts'
import type { Page } from './pages.js'

/** The queues and the workers of the deployment, which all projects share. */
export interface StagesClient {
  /** Every stage, in the order of the pipeline. */
  list(): Promise<Page<StageState>>
  /** The messages of the project that each stage has not reached, since when, and the error of one that failed. */
  behind(): Promise<Page<StageBehind>>
  /** Backlog and oldest wait of every stage, for autoscalers: the same from every process. */
  scaling(): Promise<Scaling>
  /** Workers finish their jobs and fetch no more. Over HTTP it needs an admin of the deployment's own project. */
  pause(stage: StageName): Promise<StageSwitched>
  resume(stage: StageName): Promise<StageSwitched>
}
