export { itemsInScope } from './items.js'
export { mergeThreads, type Woven } from './merge-threads.js'
export { referenceIn, stateFromAnywhere } from './references.js'
export type { ThreadShareOfScope } from './turns.js'
