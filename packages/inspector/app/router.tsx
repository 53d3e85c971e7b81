import { createHashHistory, createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { AgentScreen, type AgentView, isAgentView } from './agents/agent-screen.js'
import { AgentsScreen } from './agents/agents-screen.js'
import { CompactionsScreen } from './compactions/compactions-screen.js'
import { ContextScreen } from './contexts/context-screen.js'
import { ContextsScreen } from './contexts/contexts-screen.js'
import { type ContextView, isContextView } from './contexts/views.js'
import { FindScreen } from './find/find-screen.js'
import { Failure } from './parts/failure.js'
import { PipelineScreen } from './pipeline/pipeline-screen.js'
import { ProxyScreen } from './proxied/proxy-screen.js'
import { RequestScreen } from './proxied/request-screen.js'
import { RequestsScreen } from './proxied/requests-screen.js'
import { readConditions, readResult } from './search/conditions.js'
import { ResultScreen } from './search/result-screen.js'
import { SearchScreen } from './search/search-screen.js'
import { NotFound } from './shell/not-found.js'
import { Shell } from './shell/shell.js'
import { ThreadsScreen } from './threads/threads-screen.js'
import { TimelineScreen } from './timeline/timeline-screen.js'
import { ToolsScreen } from './tools/tools-screen.js'

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const messageNumber = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : undefined

/** The router reads a text of digits as a number. */
const words = (value: unknown) => text(typeof value === 'number' ? String(value) : value)

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/threads' })
  },
})

export const threadsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads',
  component: ThreadsScreen,
  validateSearch: (search: Record<string, unknown>): { search?: string; agent?: string } => ({
    ...(text(search['search']) !== undefined && { search: text(search['search']) }),
    ...(text(search['agent']) !== undefined && { agent: text(search['agent']) }),
  }),
})

export const timelineRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads/$thread',
  component: TimelineScreen,
  validateSearch: (search: Record<string, unknown>): { order?: 'asc'; at?: number; request?: string } => ({
    ...(search['order'] === 'asc' && { order: 'asc' as const }),
    ...(messageNumber(search['at']) !== undefined && { at: messageNumber(search['at']) }),
    ...(text(search['request']) !== undefined && { request: text(search['request']) }),
  }),
})

const toolsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads/$thread/tools',
  component: ToolsScreen,
  validateSearch: ({ tool }: Record<string, unknown>): { tool?: string } => ({
    ...(text(tool) !== undefined && { tool: text(tool) }),
  }),
})

const findRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads/$thread/find',
  component: FindScreen,
  validateSearch: (search: Record<string, unknown>): { query?: string; message?: number; context?: string } => ({
    ...(words(search['query']) !== undefined && { query: words(search['query']) }),
    ...(messageNumber(search['message']) !== undefined && { message: messageNumber(search['message']) }),
    ...(text(search['context']) !== undefined && { context: text(search['context']) }),
  }),
})

export const contextsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads/$thread/contexts',
  component: ContextsScreen,
})

export const contextRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads/$thread/contexts/$context',
  component: ContextScreen,
  validateSearch: ({ view, query }: Record<string, unknown>): { view?: ContextView; query?: string } => ({
    ...(isContextView(view) && { view }),
    ...(words(query) !== undefined && { query: words(query) }),
  }),
})

const requestsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads/$thread/requests',
  component: RequestsScreen,
})

const requestRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads/$thread/requests/$request',
  component: RequestScreen,
})

export const agentsRoute = createRoute({ getParentRoute: () => rootRoute, path: '/agents', component: AgentsScreen })

export const agentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents/$agent',
  component: AgentScreen,
  validateSearch: ({ view, snapshot }: Record<string, unknown>): { view?: AgentView; snapshot?: string } => ({
    ...(isAgentView(view) && { view }),
    ...(text(snapshot) !== undefined && { snapshot: text(snapshot) }),
  }),
})

const compactionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/threads/$thread/compactions',
  component: CompactionsScreen,
})

export const pipelineRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/pipeline',
  component: PipelineScreen,
})

const proxyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/proxy',
  component: ProxyScreen,
})

const searchRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/search',
  component: SearchScreen,
  validateSearch: readConditions,
})

const resultRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/result',
  component: ResultScreen,
  validateSearch: readResult,
})

/** The routes are behind `#`, so that the gateway, and any proxy, serves one page whatever its path is. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([
    homeRoute,
    threadsRoute,
    timelineRoute,
    findRoute,
    contextsRoute,
    contextRoute,
    compactionsRoute,
    toolsRoute,
    requestsRoute,
    requestRoute,
    agentsRoute,
    agentRoute,
    proxyRoute,
    pipelineRoute,
    searchRoute,
    resultRoute,
  ]),
  history: createHashHistory(),
  defaultErrorComponent: ({ error }) => <Failure error={error} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
