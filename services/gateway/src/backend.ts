import type { Client } from '@heddle/client/interface'
import type { ModelCalls } from '@heddle/contracts'
import type { AskedShare, StageStats } from '@heddle/queue'
import type { Keys } from './admission/access.js'

/** What the gateway answers from. */
export interface Backend {
  clientOf(project: string): Client
  readonly keys: Keys
  /** @throws RetryableError `RATE_LIMITED` where the project has its share of a stage under way */
  checkShare(project: string, share: Omit<AskedShare, 'projectId'>): void
  readStageStats(): Promise<StageStats[]>
  /** What this process has asked of each model, by provider and name. */
  readModelCalls(): ReadonlyMap<string, ModelCalls>
  /** @throws RetryableError `SERVICE_UNAVAILABLE` that names what is away */
  checkReady(): Promise<void>
}
