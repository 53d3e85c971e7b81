export { HeddleChatMessageHistory, type HeddleHistoryOptions } from './history.js'
export { heddleMiddleware } from './middleware.js'
export type { HeddleOptions, RunConfiguration } from './options.js'
export { heddleTools } from './tools.js'
