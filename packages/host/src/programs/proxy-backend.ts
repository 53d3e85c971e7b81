import type { Client } from '@heddle/client/interface'
import { agentIdOf, projectIdOf, threadIdOf } from '@heddle/core'
import type { ProxyBackend } from '@heddle/proxy'
import {
  insertProxiedRequest,
  loadProxiedConversation,
  loadProxyModes,
  type Store,
  saveProxiedConversation,
} from '@heddle/store'

export interface ProxyBackendParts {
  readonly store: Store
  clientOf(project: string): Client
}

/** The part of Heddle that a proxy stores in, and reads from. */
export function proxyBackendOf({ store, clientOf }: ProxyBackendParts): Required<ProxyBackend> {
  return {
    clientOf,
    async settingsMode(project, { agent, thread }) {
      const projectId = projectIdOf(project)
      const threadId = thread === null ? null : threadIdOf(projectId, thread)
      const ids = { agentId: agentIdOf(projectId, agent), threadId }
      const { ofThread, ofAgent } = await store.inProject(projectId, (tx) => loadProxyModes(tx, ids))
      if (ofThread) return { mode: ofThread, source: 'thread' }
      return ofAgent ? { mode: ofAgent, source: 'agent' } : null
    },
    states: {
      load: (project, place) => store.inProject(projectIdOf(project), (tx) => loadProxiedConversation(tx, place)),
      save: (project, state) => store.inProject(projectIdOf(project), (tx) => saveProxiedConversation(tx, state)),
    },
    recordRequest: (project, row, view) =>
      store.inProject(projectIdOf(project), (tx) =>
        insertProxiedRequest(tx, { ...row, reasons: [...row.reasons] }, view),
      ),
  }
}
