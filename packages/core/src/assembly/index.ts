export { buildContext } from './build.js'
export { type History, type Line, layOutHistory } from './history.js'
export type { Activity, BuildInput, UnloadedRange } from './input.js'
export { statusLimits } from './status.js'
