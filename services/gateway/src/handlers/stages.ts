import type { Finding, StageSample, stageOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'

export interface DeploymentReads {
  /** Oldest first. */
  samples(): readonly StageSample[]
  examine(): Promise<readonly Finding[]>
}

export function stageHandlers({ samples, examine }: DeploymentReads): Handlers<typeof stageOperations> {
  return {
    listStages: ({ client }) => client.stages.list(),
    listStageSamples: async () => ({ items: [...samples()], nextCursor: null }),
    pauseStage: ({ client, params }) => client.stages.pause(params.stage),
    resumeStage: ({ client, params }) => client.stages.resume(params.stage),
    listFindings: async () => ({ items: [...(await examine())], nextCursor: null }),
  }
}
