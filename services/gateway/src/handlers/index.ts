import { type Operations, operations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'
import { type Route, routeOf } from '../http/route.js'
import { agentHandlers } from './agents.js'
import { blockHandlers } from './blocks.js'
import { contextHandlers } from './contexts.js'
import { factHandlers } from './facts.js'
import { hookHandlers } from './hooks.js'
import { itemHandlers, threadItemHandlers } from './items.js'
import { messageHandlers } from './messages.js'
import { projectHandlers } from './projects.js'
import { proxyHandlers } from './proxy.js'
import { recallHandlers } from './recall.js'
import { snapshotHandlers } from './snapshots.js'
import { type DeploymentReads, stageHandlers } from './stages.js'
import { compactionHandlers, threadHandlers, threadTransferHandlers } from './threads.js'

export type { DeploymentReads } from './stages.js'

/** Handlers of all operations except the event stream, which `http/events.ts` serves. */
const handlersOf = (reads: DeploymentReads): Handlers<Omit<Operations, 'followEvents'>> => ({
  ...agentHandlers,
  ...threadHandlers,
  ...compactionHandlers,
  ...threadTransferHandlers,
  ...messageHandlers,
  ...contextHandlers,
  ...recallHandlers,
  ...snapshotHandlers,
  ...itemHandlers,
  ...threadItemHandlers,
  ...blockHandlers,
  ...projectHandlers,
  ...stageHandlers(reads),
  ...proxyHandlers,
  ...factHandlers,
  ...hookHandlers,
})

/** The routes under `/v1`, each bound to its handler. */
export function routesOf(reads: DeploymentReads): Route[] {
  const handlers = handlersOf(reads)
  return (Object.keys(handlers) as (keyof typeof handlers)[]).map((id) =>
    routeOf(operations[id], handlers[id] as Parameters<typeof routeOf>[1]),
  )
}
