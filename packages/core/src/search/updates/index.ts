export { asksForValue } from './asked-value.js'
export { findReplacements, newerFirst } from './replacements.js'
export type { RankedStatement, Statement } from './statement.js'
