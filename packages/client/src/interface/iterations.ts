import { type IterationInput, limits } from '@heddle/contracts'
import { z } from 'zod'

/** An iteration to be appended; without an id it gets one, and is then one of its own each time it is appended. */
export type NewIteration = Omit<IterationInput, 'id'> & { readonly id?: string }

export interface AppendIterationsOptions {
  readonly agent: string
  readonly thread: string
  readonly iterations: readonly NewIteration[]
}

export const listOptionsSchema = z.strictObject({
  /** The number of the last iteration of the page before. */
  cursor: z.string().optional(),
  /** @deprecated The name that `cursor` had. */
  after: z.string().optional().meta({ deprecated: true }),
  limit: z.int().min(1).max(limits.pageItemsMax).default(50),
  order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('asc'),
})

export type ListIterationsOptions = z.input<typeof listOptionsSchema>
