import type { GrantsClient, KeysClient, ProjectsClient } from '@heddle/client/interface'
import type { EngineContext } from '../setup/options.js'
import { eraseProject } from './erasure.js'
import { accept, list as listGrants, offer, revoke as revokeGrant } from './grants.js'
import { createKey, listKeys, revokeKey, updateKey } from './keys.js'

export function projectsClient(parts: EngineContext): ProjectsClient {
  return {
    delete: (options) => eraseProject(parts, options),
  }
}

export function keysClient(parts: EngineContext): KeysClient {
  return {
    create: (key) => createKey(parts, key),
    list: () => listKeys(parts),
    update: (id, change) => updateKey(parts, id, change),
    revoke: (id) => revokeKey(parts, id),
  }
}

export function grantsClient(parts: EngineContext): GrantsClient {
  return {
    offer: (to) => offer(parts, to),
    accept: (from) => accept(parts, from),
    revoke: (sides) => revokeGrant(parts, sides),
    list: () => listGrants(parts),
  }
}
