import { commandShapes } from './commands.js'
import { delimiterContents } from './delimiters.js'
import { encodingShapes } from './encodings.js'
import type { ContentShapes } from './grow.js'
import { markupShapes } from './markup.js'
import { scriptShapes } from './scripts.js'

export type { ContentShape, ContentShapes } from './grow.js'

/**
 * Contents that anyone may append, each of which grows to any size: what a pass over contents costs must grow no faster.
 * A shape is here because something somewhere takes quadratic time on one of its kind.
 */
export const contentShapes: ContentShapes = {
  ...scriptShapes,
  ...delimiterContents,
  ...commandShapes,
  ...markupShapes,
  ...encodingShapes,
}
