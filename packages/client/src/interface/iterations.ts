import { type IterationInput, limits } from '@heddle/contracts'
import { z } from 'zod'
import type { AppendSettings } from './messages.js'

/** An iteration to append; without an id it gets a new one each time it is appended. */
export type NewIteration = Omit<IterationInput, 'id'> & { readonly id?: string }

/**
 * `ack`, `onBusy` and `deadlineMs` mean what they do for messages. With `queued` the numbers are given when the iterations are
 * stored, so an append that takes several jobs must give them.
 */
export interface AppendIterationsOptions
  extends Pick<AppendSettings, 'agent' | 'thread' | 'ack' | 'onBusy' | 'deadlineMs' | 'signal'> {
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
