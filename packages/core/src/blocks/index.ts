export type { BlockContent, BlockVersion, ContextBlock } from './block.js'
export { type BlockChange, changeBlock } from './change-block.js'
export { type BlockLine, type BlockLines, blockLines } from './render-blocks.js'
export { checkGrantedChange, type SharedBlock, sharedContextBlock } from './shared-block.js'
