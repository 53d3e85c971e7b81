import type { BlocksClient } from '@heddle/client/interface'
import type { EngineContext } from '../setup/options.js'
import { changeBlockContent, removeBlock, undoBlock } from './change-blocks.js'
import { grantBlock, listBlockGrantsOf, listBlockGrantsOfOne, revokeBlockGrant } from './grant-blocks.js'
import { blockHistory, getBlock, listBlocksOf } from './read-blocks.js'

export function blocksClient(parts: EngineContext): BlocksClient {
  return {
    put: (key, block, options) => changeBlockContent(parts, 'put', key, block, options),
    insert: (key, change, options) => changeBlockContent(parts, 'insert', key, change, options),
    replace: (key, change, options) => changeBlockContent(parts, 'replace', key, change, options),
    rethink: (key, change, options) => changeBlockContent(parts, 'rethink', key, change, options),
    undo: (key, change, options) => undoBlock(parts, key, change, options),
    remove: (key, options) => removeBlock(parts, key, options),
    get: (key, options) => getBlock(parts, key, options),
    history: (key, page) => blockHistory(parts, key, page),
    list: (options) => listBlocksOf(parts, options),
    grant: (key, grant) => grantBlock(parts, key, grant),
    revoke: (key, grant) => revokeBlockGrant(parts, key, grant),
    grants: (key) => listBlockGrantsOf(parts, key),
    grantsOf: (agent, page) => listBlockGrantsOfOne(parts, agent, page),
  }
}
