export type { HeddleOptions, RequestContext } from './options.js'
export { type HeddleProcessor, heddleProcessors } from './processors.js'
export { heddleTools } from './tools.js'
