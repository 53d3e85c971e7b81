import { agentOperations } from './agents.js'
import { blockOperations } from './blocks.js'
import { compactionOperations } from './compaction.js'
import { contextOperations } from './contexts.js'
import { eventOperations } from './events.js'
import { factOperations } from './facts.js'
import { hookOperations } from './hooks.js'
import { itemOperations } from './items.js'
import { messageOperations } from './messages.js'
import { projectOperations } from './projects.js'
import { proxyOperations } from './proxy.js'
import { recallOperations } from './recall.js'
import { snapshotOperations } from './snapshots.js'
import { stageOperations } from './stages.js'
import { threadItemOperations } from './thread-items.js'
import { threadTransferOperations } from './thread-transfer.js'
import { threadOperations } from './threads.js'
import { toolUseOperations } from './tool-use.js'

export type { Operation, OperationAnswer, Repeatability } from './operation.js'
export { type OperationTag, operationTags } from './tags.js'
export {
  agentOperations,
  blockOperations,
  compactionOperations,
  contextOperations,
  factOperations,
  hookOperations,
  itemOperations,
  messageOperations,
  projectOperations,
  proxyOperations,
  recallOperations,
  snapshotOperations,
  stageOperations,
  threadItemOperations,
  threadOperations,
  threadTransferOperations,
  toolUseOperations,
}

/** Named by its parts, which the compiler otherwise writes out once more: half a megabyte in each installation. */
export type Operations = typeof agentOperations &
  typeof threadOperations &
  typeof compactionOperations &
  typeof threadTransferOperations &
  typeof messageOperations &
  typeof toolUseOperations &
  typeof contextOperations &
  typeof recallOperations &
  typeof snapshotOperations &
  typeof itemOperations &
  typeof threadItemOperations &
  typeof blockOperations &
  typeof projectOperations &
  typeof stageOperations &
  typeof proxyOperations &
  typeof factOperations &
  typeof hookOperations &
  typeof eventOperations

/** Every operation of the HTTP interface by its id, which is its name in programs. */
export const operations: Operations = {
  ...agentOperations,
  ...threadOperations,
  ...compactionOperations,
  ...threadTransferOperations,
  ...messageOperations,
  ...toolUseOperations,
  ...contextOperations,
  ...recallOperations,
  ...snapshotOperations,
  ...itemOperations,
  ...threadItemOperations,
  ...blockOperations,
  ...projectOperations,
  ...stageOperations,
  ...proxyOperations,
  ...factOperations,
  ...hookOperations,
  ...eventOperations,
}

export type OperationId = keyof Operations
