import {
  blockHistoryQuerySchema,
  blockOwnerQuerySchema,
  blockPageSchema,
  blockParamsSchema,
  blockQuerySchema,
  blockSchema,
  blocksQuerySchema,
  insertBlockSchema,
  putBlockSchema,
  removeBlockQuerySchema,
  replaceBlockSchema,
  rethinkBlockSchema,
  undoBlockSchema,
} from '../blocks/blocks.js'
import {
  blockGrantBodySchema,
  blockGrantPageSchema,
  blockGrantParamsSchema,
  blockGrantSchema,
  blockGrantsParamsSchema,
} from '../blocks/grants.js'
import { agentParamsSchema } from '../http/agents.js'
import { pageQuerySchema } from '../http/common.js'
import { operation } from './operation.js'

const ofBlock = { tag: 'blocks', params: blockParamsSchema } as const

const write = {
  ...ofBlock,
  needs: 'produce',
  repeat: 'by-key',
  query: blockOwnerQuerySchema,
  headers: { 'Idempotency-Key': 'A repeat with the same key answers with the version that the first one made.' },
  answers: { 200: { description: 'The block as it is now.', schema: blockSchema } },
} as const

const edit = { ...write, method: 'POST' } as const

const CONFLICTS =
  'Changes of one block run one after another. With `ifVersion`, a change of another version is answered with 409, which has the current block in `facts.current`.'

export const blockOperations = {
  putBlock: operation({
    ...write,
    method: 'PUT',
    path: '/v1/memory/blocks/:scope/:label',
    needs: 'admin',
    summary: 'Create a memory block, or change its value, description, limit or whether models may change it',
    description: `Missing fields are unchanged. Contexts show a new version after their history until their next compaction, and from then on before it. ${CONFLICTS}`,
    body: putBlockSchema,
  }),
  insertIntoBlock: operation({
    ...edit,
    path: '/v1/memory/blocks/:scope/:label/insert',
    summary: 'Insert lines into a memory block',
    description: CONFLICTS,
    body: insertBlockSchema,
  }),
  replaceInBlock: operation({
    ...edit,
    path: '/v1/memory/blocks/:scope/:label/replace',
    summary: 'Replace a part of a memory block that occurs once',
    description: CONFLICTS,
    body: replaceBlockSchema,
  }),
  rethinkBlock: operation({
    ...edit,
    path: '/v1/memory/blocks/:scope/:label/rethink',
    summary: 'Write the value of a memory block anew',
    description: CONFLICTS,
    body: rethinkBlockSchema,
  }),
  undoBlock: operation({
    ...edit,
    path: '/v1/memory/blocks/:scope/:label/undo',
    needs: 'admin',
    summary: 'Take an earlier version of a memory block into force again, as a new version',
    description: `Also for a removed block. ${CONFLICTS}`,
    body: undoBlockSchema,
  }),
  deleteBlock: operation({
    ...write,
    method: 'DELETE',
    path: '/v1/memory/blocks/:scope/:label',
    needs: 'admin',
    summary: 'Remove a memory block',
    description:
      'Contexts no longer show it. Its versions stay readable, until its owner is erased; `undo` brings it back.',
    query: removeBlockQuerySchema,
    answers: { 200: { description: 'The removed block.', schema: blockSchema } },
  }),
  getBlock: operation({
    ...ofBlock,
    method: 'GET',
    path: '/v1/memory/blocks/:scope/:label',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The current version of a memory block, or an older one',
    query: blockQuerySchema,
    answers: { 200: { description: 'The block.', schema: blockSchema } },
  }),
  listBlockVersions: operation({
    ...ofBlock,
    method: 'GET',
    path: '/v1/memory/blocks/:scope/:label/versions',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'All versions of a memory block, the newest first',
    query: blockHistoryQuerySchema,
    answers: { 200: { description: 'A page of versions.', schema: blockPageSchema } },
  }),
  grantBlock: operation({
    method: 'PUT',
    path: '/v1/memory/blocks/:scope/:label/grants/:agent',
    tag: 'blocks',
    needs: 'admin',
    repeat: 'idempotent',
    summary: 'Share a memory block of an agent with another agent of the project',
    description:
      'Contexts of the other agent show it under the label `owner/label`, after their history until their next compaction. With the mode `write` the other agent also inserts, replaces and rethinks it. Removing the block ends its grants.',
    params: blockGrantParamsSchema,
    query: blockOwnerQuerySchema,
    body: blockGrantBodySchema,
    answers: { 200: { description: 'The grant as it is now.', schema: blockGrantSchema } },
  }),
  revokeBlockGrant: operation({
    method: 'DELETE',
    path: '/v1/memory/blocks/:scope/:label/grants/:agent',
    tag: 'blocks',
    needs: 'admin',
    repeat: 'idempotent',
    summary: 'Share a memory block with another agent no longer',
    description: 'Its contexts show the block no longer. Revoking again keeps the first time.',
    params: blockGrantParamsSchema,
    query: blockOwnerQuerySchema,
    answers: { 200: { description: 'The revoked grant.', schema: blockGrantSchema } },
  }),
  listBlockGrants: operation({
    method: 'GET',
    path: '/v1/memory/blocks/:scope/:label/grants',
    tag: 'blocks',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The agents that a memory block is shared with',
    params: blockGrantsParamsSchema,
    query: blockOwnerQuerySchema,
    answers: { 200: { description: 'All of them by name, in one page.', schema: blockGrantPageSchema } },
  }),
  listAgentBlockGrants: operation({
    method: 'GET',
    path: '/v1/agents/:agent/block-grants',
    tag: 'blocks',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The memory blocks that an agent shares, and those that others share with it',
    description:
      'The grants in which it is `owner` or `to`, by owner, label and other agent. Revoked ones are left out.',
    params: agentParamsSchema,
    query: pageQuerySchema,
    answers: { 200: { description: 'A page of grants.', schema: blockGrantPageSchema } },
  }),
  listBlocks: operation({
    method: 'GET',
    path: '/v1/memory/blocks',
    tag: 'blocks',
    needs: 'read',
    repeat: 'idempotent',
    summary: 'The memory blocks in the contexts of a thread, an agent or the project',
    query: blocksQuerySchema,
    answers: { 200: { description: 'All of them, in one page.', schema: blockPageSchema } },
  }),
}
