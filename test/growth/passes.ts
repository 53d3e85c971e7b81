import type { Pass } from './measure.js'
import { messagePasses } from './message-passes.js'
import { sessionPasses } from './session-passes.js'
import { textPasses } from './text-passes.js'

/** Every pass over contents, by name. */
export const passes: Readonly<Record<string, Pass>> = { ...textPasses, ...sessionPasses, ...messagePasses }
