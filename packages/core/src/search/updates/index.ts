export { asksForValue } from './asked-value.js'
export { findReplacements, newerFirst } from './replacements.js'
export type { Statement } from './statement.js'
