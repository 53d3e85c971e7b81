export { summarizePart } from './kept-summaries.js'
export { cutLeaves, leafHash, leafLength, partTokensMax, readTokens, type TreeShape } from './leaves.js'
export { type TreeNode, topOfTree } from './nodes.js'
export { leafRequest, parentRequest, type ReadingOptions, wholeRequest } from './requests.js'
