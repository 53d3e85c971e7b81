import type { AccessRole } from '@heddle/contracts'
import type { ClientParts } from '../setup/options.js'
import { type EraseOptions, type ErasureResult, eraseProject } from './erasure.js'
import { accept, list as listGrants, type OfferedGrant, offer, revoke as revokeGrant } from './grants.js'
import { type ApiKey, createKey, listKeys, revokeKey } from './keys.js'

export interface ProjectsClient {
  /** Erases the client's own project for good, with everything in it. */
  delete(options?: Omit<EraseOptions, 'reuse'>): Promise<ErasureResult>
}

export function projectsClient(parts: ClientParts): ProjectsClient {
  return {
    delete: (options) => eraseProject(parts, options),
  }
}

export interface KeysClient {
  create(key: { readonly name: string; readonly role: AccessRole }): Promise<ApiKey & { readonly key: string }>
  list(): Promise<{ readonly items: readonly ApiKey[] }>
  revoke(id: string): Promise<ApiKey>
}

export function keysClient(parts: ClientParts): KeysClient {
  return {
    create: (key) => createKey(parts, key),
    list: () => listKeys(parts),
    revoke: (id) => revokeKey(parts, id),
  }
}

export interface GrantsClient {
  offer(to: string): Promise<void>
  accept(from: string): Promise<void>
  revoke(sides: { readonly to: string } | { readonly from: string }): Promise<void>
  list(): Promise<{ readonly items: readonly OfferedGrant[] }>
}

export function grantsClient(parts: ClientParts): GrantsClient {
  return {
    offer: (to) => offer(parts, to),
    accept: (from) => accept(parts, from),
    revoke: (sides) => revokeGrant(parts, sides),
    list: () => listGrants(parts),
  }
}
