import {
  type Agent,
  type AgentBody,
  type AgentSummary,
  type Calibration,
  type ClearResult,
  type ErasureResult,
  limits,
  type MemoryAudit,
  type Restored,
  type SettingInForce,
  type Snapshot,
  type SnapshotFile,
  type SnapshotRequest,
  type StandingInstruction,
  timeSchema,
} from '@heddle/contracts'
import { z } from 'zod'
import type { Page, PageOptions } from './pages.js'
import type { EraseOptions } from './projects.js'
import type { RestoreOptions, SaveOptions, SnapshotListOptions } from './snapshots.js'

export interface AgentsClient {
  put(name: string, body: AgentBody): Promise<Agent>
  get(name: string): Promise<Agent>
  /** The settings in force, and who sets each of them. */
  settings(name: string): Promise<Page<SettingInForce>>
  /** How providers count its requests beside our own counts, by model. */
  calibration(name: string): Promise<Page<Calibration>>
  /** Copies, loops, outdated and transient texts, and secrets among its messages, the newest first. */
  auditMemory(name: string, options?: AuditOptions): Promise<MemoryAudit>
  /** Messages of people that ask for something to hold from then on, with their words and references. */
  instructions(name: string): Promise<Page<StandingInstruction>>
  list(options?: PageOptions): Promise<Page<AgentSummary>>
  clear(name: string, options?: ClearOptions): Promise<ClearResult>
  /** Permanently erases it, with its threads, items and snapshots. */
  delete(name: string, options?: EraseOptions): Promise<ErasureResult>
}

export interface SnapshotsClient {
  /** Saves the window of all threads of an agent, with a summary; nothing is cleared. */
  save(request: SnapshotRequest, options?: SaveOptions): Promise<Snapshot>
  /** Newest first. */
  history(agent: string, options?: SnapshotListOptions): Promise<Page<Snapshot>>
  /** With its messages, in its file format. */
  get(id: string): Promise<SnapshotFile>
  /** Restores its messages in the windows of their threads; messages already shown are unchanged. */
  restore(id: string, options?: RestoreOptions): Promise<Restored>
  /**
   * Restores the messages of a snapshot's file, also of another installation: in the threads that the agent still has, and otherwise
   * in new ones. Restoring again adds nothing.
   */
  restoreFile(agent: string, file: SnapshotFile, options?: RestoreOptions): Promise<Restored>
}

export const auditOptionsSchema = z.strictObject({
  /** Messages that are read. Default 1,000. */
  limit: z.int().min(1).max(limits.auditedMessagesMax).default(1_000),
  /** The `nextCursor` of the audit of newer messages. */
  cursor: z.string().optional(),
})

export type AuditOptions = z.input<typeof auditOptionsSchema>

export const clearOptionsSchema = z.strictObject({
  /** When the agent was cleared, by the caller's clock; at the latest when the request arrives. Default: now. */
  clearedAt: timeSchema.optional(),
  /** A repeat with the same key is the same clear: messages sent since stay in the window. */
  idempotencyKey: z.string().optional(),
})

export type ClearOptions = z.input<typeof clearOptionsSchema>
