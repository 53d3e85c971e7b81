import type { Client } from '@heddle/client/interface'
import { agentIdOf, projectIdOf } from '@heddle/core'
import type { ProxyBackend } from '@heddle/proxy'
import {
  insertProxiedRequest,
  loadAgentSettings,
  loadProxiedConversation,
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
    async agentMode(project, agent) {
      const projectId = projectIdOf(project)
      const agentId = agentIdOf(projectId, agent)
      const settings = await store.inProject(projectId, (tx) => loadAgentSettings(tx, { agentId }))
      return settings?.proxyMode ?? null
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
