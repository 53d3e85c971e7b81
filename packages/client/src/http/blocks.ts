import type { AgentBlockKey, BlockKey } from '@heddle/contracts'
import { type CallOperation, pageQuery } from './call.js'
import type { RemoteClient } from './remote-client.js'

/** Memory blocks over HTTP. */
export function blocksOverHttp(call: CallOperation): RemoteClient['blocks'] {
  const of = ({ owner, ...params }: BlockKey) => ({ params, query: { owner } })
  const ofGrant = ({ owner, ...block }: AgentBlockKey, agent: string) => ({
    params: { ...block, agent },
    query: { owner },
  })
  return {
    put: async (key, body, how = {}) => (await call('putBlock', { ...of(key), body, ...how })).body,
    insert: async (key, body, how = {}) => (await call('insertIntoBlock', { ...of(key), body, ...how })).body,
    replace: async (key, body, how = {}) => (await call('replaceInBlock', { ...of(key), body, ...how })).body,
    rethink: async (key, body, how = {}) => (await call('rethinkBlock', { ...of(key), body, ...how })).body,
    undo: async (key, body = {}, how = {}) => (await call('undoBlock', { ...of(key), body, ...how })).body,
    async remove(key, { ifVersion, ...how } = {}) {
      const { params, query } = of(key)
      return (await call('deleteBlock', { params, query: { ...query, ifVersion }, ...how })).body
    },
    async get(key, { version } = {}) {
      const { params, query } = of(key)
      return (await call('getBlock', { params, query: { ...query, version } })).body
    },
    async history(key, page = {}) {
      const { params, query } = of(key)
      return (await call('listBlockVersions', { params, query: { ...query, ...pageQuery(page) } })).body
    },
    list: async (query = {}) => (await call('listBlocks', { query })).body,
    grant: async (key, { to, ...body }) => (await call('grantBlock', { ...ofGrant(key, to), body })).body,
    revoke: async (key, { to }) => (await call('revokeBlockGrant', ofGrant(key, to))).body,
    grants: async ({ owner, ...params }) => (await call('listBlockGrants', { params, query: { owner } })).body,
    grantsOf: async (agent, page = {}) =>
      (await call('listAgentBlockGrants', { params: { agent }, query: pageQuery(page) })).body,
  }
}
