import type { AgentsClient, SnapshotsClient } from '@heddle/client/interface'
import { eraseAgent } from '../projects/erasure.js'
import type { EngineContext } from '../setup/options.js'
import { restoreSnapshotFile } from '../snapshots/restore-file.js'
import { restoreSnapshot } from '../snapshots/snapshot-restore.js'
import { getSnapshot, listAllSnapshots, saveSnapshot } from '../snapshots/snapshots.js'
import { getAgent, listAllAgents, setAgent } from './agents.js'
import { auditMemory } from './audit-memory.js'
import { listCalibrationsOf } from './calibration.js'
import { clearWindows } from './clears.js'
import { listInstructions } from './list-instructions.js'
import { settingsInForce } from './settings-in-force.js'

export function agentsClient(parts: EngineContext): AgentsClient {
  return {
    put: (agent, body) => setAgent(parts, agent, body),
    get: (agent) => getAgent(parts, agent),
    settings: (agent) => settingsInForce(parts, agent),
    auditMemory: (agent, options) => auditMemory(parts, agent, options),
    instructions: (agent) => listInstructions(parts, agent),
    calibration: (agent) => listCalibrationsOf(parts, agent),
    list: (options) => listAllAgents(parts, options),
    clear: (agent, options) => clearWindows(parts, agent, options),
    delete: (agent, options) => eraseAgent(parts, agent, options),
  }
}

export function snapshotsClient(parts: EngineContext): SnapshotsClient {
  return {
    save: (request, options) => saveSnapshot(parts, request, options),
    history: (agent, options) => listAllSnapshots(parts, agent, options),
    get: (id) => getSnapshot(parts, id),
    restore: (id, options) => restoreSnapshot(parts, id, options),
    restoreFile: (agent, file, options) => restoreSnapshotFile(parts, agent, file, options),
  }
}
