export { type Atom, AtomSet } from './atom.js'
export { AtomCollector } from './collect.js'
export { type AtomFates, type FateCounts, fatesOf, noCounts, type ShownContext, type ShownMessage } from './report.js'
export { shownMessages } from './shown-messages.js'
