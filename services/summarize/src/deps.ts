import type { PartialSettings } from '@heddle/contracts'
import type { WorkSize } from '@heddle/queue'
import type { AccountingDeps } from './accounting.js'

export interface SummarizeDeps extends AccountingDeps {
  /** Settings of the file and the environment, under those of agents. */
  readonly settings: PartialSettings
  /** Publishes an event for a new state. */
  readonly publishCompacted: (projectId: string, threadId: string, stateId: string) => void
  /** Largest input read in this process. Default: unlimited. */
  readonly sizeMax?: WorkSize | undefined
}
