import { commandShapes } from './commands.js'
import { delimiterContents } from './delimiters.js'
import { encodingShapes } from './encodings.js'
import type { ContentShapes } from './grow.js'
import { markupShapes } from './markup.js'
import { scriptShapes } from './scripts.js'

export type { ContentShape, ContentShapes } from './grow.js'

/**
 * Contents that anyone can append, each of which grows to any size: the cost of a pass over contents must grow no faster.
 * Each shape is here because some code takes quadratic time on one of its kind.
 */
export const contentShapes: ContentShapes = {
  ...scriptShapes,
  ...delimiterContents,
  ...commandShapes,
  ...markupShapes,
  ...encodingShapes,
}
