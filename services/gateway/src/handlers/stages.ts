import type { Finding, Scaling, StageSample, stageOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'

export interface DeploymentReads {
  /** Oldest first. */
  samples(): readonly StageSample[]
  examine(): Promise<readonly Finding[]>
  /** Reads for all callers of a moment. */
  scaling(load: () => Promise<Scaling>): Promise<Scaling>
}

export function stageHandlers({ samples, examine, scaling }: DeploymentReads): Handlers<typeof stageOperations> {
  return {
    listStages: ({ client }) => client.stages.list(),
    listStageSamples: async () => ({ items: [...samples()], nextCursor: null }),
    listStagesBehind: ({ client }) => client.stages.behind(),
    readScaling: ({ client }) => scaling(() => client.stages.scaling()),
    pauseStage: ({ client, params }) => client.stages.pause(params.stage),
    resumeStage: ({ client, params }) => client.stages.resume(params.stage),
    listFindings: async () => ({ items: [...(await examine())], nextCursor: null }),
  }
}
