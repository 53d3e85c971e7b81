import { defineStrategy } from './define.js'
import type { ContextStrategy } from './strategy.js'

/** The name of the strategy for runs (docs/iterations.md). Its contexts are built from a loop, see `planRun`. */
export const ITERATIONS = 'iterations'

export const MESSAGES_LEFT_OUT = 'the strategy shows iterations instead of messages'

/** A run (docs/iterations.md): the thread's iterations and the summary of older ones replace its messages. */
export function createIterations(): ContextStrategy {
  return defineStrategy({
    name: ITERATIONS,
    key: '',
    leaveOut: ({ messages }) => new Map(messages.map(({ id }) => [id, MESSAGES_LEFT_OUT])),
  })
}
