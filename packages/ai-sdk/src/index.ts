export { type HeddleMiddleware, heddleMiddleware } from './middleware.js'
export type { HeddleOptions } from './options.js'
export { heddlePrepareStep } from './prepare-step.js'
export { heddleTools } from './tools.js'
