import type { AgentBody, Restored, Snapshot, SnapshotRequest } from '@heddle/contracts'
import type { SnapshotFile } from '@heddle/core'
import type { AgentRow, AgentSummary } from '@heddle/store'
import { type EraseOptions, type ErasureResult, eraseAgent } from '../projects/erasure.js'
import type { PageOptions } from '../setup/cursors.js'
import type { ClientParts, Page } from '../setup/options.js'
import { type RestoreOptions, restoreSnapshot } from '../snapshots/snapshot-restore.js'
import {
  getSnapshot,
  listAllSnapshots,
  type SaveOptions,
  type SnapshotListOptions,
  saveSnapshot,
} from '../snapshots/snapshots.js'
import { getAgent, listAllAgents, setAgent } from './agents.js'
import { type ClearOptions, type ClearResult, clearWindows } from './clears.js'

export interface AgentsClient {
  put(name: string, body: AgentBody): Promise<AgentRow>
  get(name: string): Promise<AgentRow>
  list(options?: PageOptions): Promise<Page<AgentSummary>>
  clear(name: string, options?: ClearOptions): Promise<ClearResult>
  /** Erases it for good, with its threads, items and snapshots. */
  delete(name: string, options?: EraseOptions): Promise<ErasureResult>
}

export function agentsClient(parts: ClientParts): AgentsClient {
  return {
    put: (agent, body) => setAgent(parts, agent, body),
    get: (agent) => getAgent(parts, agent),
    list: (options) => listAllAgents(parts, options),
    clear: (agent, options) => clearWindows(parts, agent, options),
    delete: (agent, options) => eraseAgent(parts, agent, options),
  }
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

export function snapshotsClient(parts: ClientParts): SnapshotsClient {
  return {
    save: (request, options) => saveSnapshot(parts, request, options),
    history: (agent, options) => listAllSnapshots(parts, agent, options),
    get: (id) => getSnapshot(parts, id),
    restore: (id, options) => restoreSnapshot(parts, id, options),
  }
}
