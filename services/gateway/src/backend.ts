import type { Client } from '@heddle/client/interface'
import type { Finding, ModelCalls } from '@heddle/contracts'
import type { ShareRequest, StageStats } from '@heddle/queue'
import type { Keys } from './admission/access.js'

export interface Backend {
  clientOf(project: string): Client
  readonly keys: Keys
  /** @throws RetryableError `RATE_LIMITED` if the project has used up its share of the stage */
  checkShare(project: string, share: Omit<ShareRequest, 'projectId'>): void
  readStageStats(): Promise<StageStats[]>
  /** Calls of this process to each model, by provider and name. */
  readModelCalls(): ReadonlyMap<string, ModelCalls>
  /** The checks of `heddle doctor`. */
  examine(): Promise<readonly Finding[]>
  /** @throws RetryableError `SERVICE_UNAVAILABLE` that names the unreachable server */
  checkReady(): Promise<void>
}
