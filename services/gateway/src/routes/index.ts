import type { Route } from '../http/route.js'
import { agentRoutes } from './agents.js'
import { contextRoutes } from './contexts.js'
import { itemToolRoutes } from './item-tools.js'
import { itemRoutes } from './items.js'
import { messageRoutes } from './messages.js'
import { recallRoutes } from './recall.js'
import { snapshotRoutes } from './snapshots.js'
import { threadItemRoutes } from './thread-items.js'
import { threadRoutes } from './threads.js'

/** What is answered under `/v1`, besides the stream of events. */
export const routes: readonly Route[] = [
  ...agentRoutes,
  ...threadRoutes,
  ...messageRoutes,
  ...contextRoutes,
  ...recallRoutes,
  ...snapshotRoutes,
  ...itemRoutes,
  ...itemToolRoutes,
  ...threadItemRoutes,
]
