export { buildContext } from './build.js'
export { type History, type Line, layOutHistory } from './history.js'
export type { BuildInput, UnloadedRange } from './input.js'
