import type { blockOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'
import { readKey } from '../http/idempotency.js'

type WithHeaders = { readonly headers: Readonly<Record<string, string | string[] | undefined>> }
const how = ({ headers }: WithHeaders) => ({ idempotencyKey: readKey(headers['idempotency-key']) })

export const blockHandlers: Handlers<typeof blockOperations> = {
  putBlock: ({ client, params, query, body, ...request }) =>
    client.blocks.put({ ...params, ...query }, body, how(request)),
  insertIntoBlock: ({ client, params, query, body, ...request }) =>
    client.blocks.insert({ ...params, ...query }, body, how(request)),
  replaceInBlock: ({ client, params, query, body, ...request }) =>
    client.blocks.replace({ ...params, ...query }, body, how(request)),
  rethinkBlock: ({ client, params, query, body, ...request }) =>
    client.blocks.rethink({ ...params, ...query }, body, how(request)),
  undoBlock: ({ client, params, query, body, ...request }) =>
    client.blocks.undo({ ...params, ...query }, body, how(request)),
  deleteBlock: ({ client, params, query: { ifVersion, ...query }, ...request }) =>
    client.blocks.remove({ ...params, ...query }, { ifVersion, ...how(request) }),
  getBlock: ({ client, params, query: { version, ...query } }) =>
    client.blocks.get({ ...params, ...query }, { version }),
  listBlockVersions: ({ client, params, query: { owner, ...page } }) =>
    client.blocks.history({ ...params, owner }, page),
  listBlocks: ({ client, query }) => client.blocks.list(query),
  grantBlock: ({ client, params: { agent, ...key }, query, body }) =>
    client.blocks.grant({ ...key, ...query }, { to: agent, ...body }),
  revokeBlockGrant: ({ client, params: { agent, ...key }, query }) =>
    client.blocks.revoke({ ...key, ...query }, { to: agent }),
  listBlockGrants: ({ client, params, query }) => client.blocks.grants({ ...params, ...query }),
  listAgentBlockGrants: ({ client, params: { agent }, query }) => client.blocks.grantsOf(agent, query),
}
