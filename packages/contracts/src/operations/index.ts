import { agentOperations } from './agents.js'
import { contextOperations } from './contexts.js'
import { eventOperations } from './events.js'
import { itemOperations } from './items.js'
import { messageOperations } from './messages.js'
import { recallOperations } from './recall.js'
import { snapshotOperations } from './snapshots.js'
import { threadItemOperations } from './thread-items.js'
import { threadOperations } from './threads.js'

export type { Operation, OperationAnswer, Repeatability } from './operation.js'
export { type OperationTag, operationTags } from './tags.js'
export {
  agentOperations,
  contextOperations,
  itemOperations,
  messageOperations,
  recallOperations,
  snapshotOperations,
  threadItemOperations,
  threadOperations,
}

/** Every operation of the HTTP interface by its id, which is its name in programs. */
export const operations = {
  ...agentOperations,
  ...threadOperations,
  ...messageOperations,
  ...contextOperations,
  ...recallOperations,
  ...snapshotOperations,
  ...itemOperations,
  ...threadItemOperations,
  ...eventOperations,
}

export type Operations = typeof operations
export type OperationId = keyof Operations
