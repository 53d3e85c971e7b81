export { itemsInScope } from './items.js'
export type { ThreadShareOfScope } from './turns.js'
export { type Woven, weave } from './weave.js'
