import {
  type Agent,
  type AgentBody,
  type AgentSummary,
  type ClearResult,
  type ErasureResult,
  type Restored,
  type Snapshot,
  type SnapshotFile,
  type SnapshotRequest,
  timeSchema,
} from '@heddle/contracts'
import { z } from 'zod'
import type { Page, PageOptions } from './pages.js'
import type { EraseOptions } from './projects.js'
import type { RestoreOptions, SaveOptions, SnapshotListOptions } from './snapshots.js'

export interface AgentsClient {
  put(name: string, body: AgentBody): Promise<Agent>
  get(name: string): Promise<Agent>
  list(options?: PageOptions): Promise<Page<AgentSummary>>
  clear(name: string, options?: ClearOptions): Promise<ClearResult>
  /** Erases it for good, with its threads, items and snapshots. */
  delete(name: string, options?: EraseOptions): Promise<ErasureResult>
}

export interface SnapshotsClient {
  /** Saves the window of all threads of an agent, with a summary; nothing is cleared. */
  save(request: SnapshotRequest, options?: SaveOptions): Promise<Snapshot>
  /** Newest first. */
  history(agent: string, options?: SnapshotListOptions): Promise<Page<Snapshot>>
  /** With its messages, in the form of its file. */
  get(id: string): Promise<SnapshotFile>
  /** Brings its messages back into the windows of their threads; what they show already stays as it is. */
  restore(id: string, options?: RestoreOptions): Promise<Restored>
}

export const clearOptionsSchema = z.strictObject({
  /** When the agent was cleared, by the caller's clock; from its arrival on at the latest. Default now. */
  clearedAt: timeSchema.optional(),
  /** Asked for again under the same key, it is the same clear: what was sent since stays in the window. */
  idempotencyKey: z.string().optional(),
})

export type ClearOptions = z.input<typeof clearOptionsSchema>
