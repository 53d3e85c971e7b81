import { z } from 'zod'
import type { OutputOf } from '../primitives/output-of.js'
import { isoTimeSchema, named, pageSchema } from './common.js'

const countsShape = {
  /** Tokens of the provider for one of ours. */
  ratio: z.number(),
  /** Tokens that the provider counts besides the context. */
  offset: z.int(),
  /** The share by which a prediction may be too low. */
  margin: z.number(),
}

export const calibrationSchema = named(
  'Calibration',
  z.object({
    model: z.string(),
    /** By the name of the model; `unknown` if its family is not known. */
    provider: z.string(),
    /** In force since `changedAt`: it changes in steps, when what was learnt differs enough. */
    ...countsShape,
    changedAt: isoTimeSchema,
    /** The newest figures, and the replies that they were learnt from. */
    learnt: z.object({ ...countsShape, samples: z.int(), at: isoTimeSchema }),
    /** Ratios of messages of one role, where enough contexts grew by little else. */
    kinds: z.array(z.object({ kind: z.string(), ratio: z.number(), samples: z.int() })),
  }),
)
/** How a provider counts an agent's requests to a model, beside our own counts. */
export type Calibration = OutputOf<typeof calibrationSchema>
export const calibrationPageSchema = named('CalibrationPage', pageSchema(calibrationSchema))
