import { z } from 'zod'
import { limits } from '../primitives/limits.js'
import { idSchema } from '../primitives/names.js'
import { factKinds, factOrigins } from '../recall/facts.js'
import { time } from './thread-export-fields.js'

const words = z.string().max(limits.factCharactersMax)
const name = z.string().max(limits.factNameCharactersMax)

/** A fact of the thread; those of its agent in all threads are not exported with it. */
export const factRecord = z.strictObject({
  type: z.literal('fact'),
  id: idSchema,
  subject: name,
  subjectKey: z.string().max(2 * limits.factNameCharactersMax),
  predicate: name,
  object: words,
  kind: z.enum(factKinds),
  isNegated: z.boolean(),
  isSingle: z.boolean(),
  statement: words,
  validFrom: time,
  validTo: time.nullable(),
  recordedAt: time,
  sources: z.array(idSchema).max(limits.factSourcesMax),
  extractor: words.nullable(),
  confidence: z.number().min(0).max(1),
  origin: z.enum(factOrigins),
  correctedBy: idSchema.nullable(),
  retractedAt: time.nullable(),
})
