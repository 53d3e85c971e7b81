export { asksForValue } from './asked-value.js'
export { findReplacements, newerFirst, type Statement } from './replacements.js'
