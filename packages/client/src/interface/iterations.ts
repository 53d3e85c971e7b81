import { type IterationInput, limits } from '@heddle/contracts'
import { z } from 'zod'

/** An iteration to append; without an id it gets a new one each time it is appended. */
export type NewIteration = Omit<IterationInput, 'id'> & { readonly id?: string }

export interface AppendIterationsOptions {
  readonly agent: string
  readonly thread: string
  readonly iterations: readonly NewIteration[]
}

export const listOptionsSchema = z.strictObject({
  /** The number of the last iteration of the previous page. */
  cursor: z.string().optional(),
  /** @deprecated The former name of `cursor`. */
  after: z.string().optional().meta({ deprecated: true }),
  limit: z.int().min(1).max(limits.pageItemsMax).default(50),
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('asc'),
})

export type ListIterationsOptions = z.input<typeof listOptionsSchema>
