import type { NeutralMessage } from './neutral-message.js'

/** The tokens that a further line adds to a message, with the line feed before it. */
export function costOfLine(text: string, cost: (message: NeutralMessage) => number): number {
  return cost({ role: 'user', content: text }) - cost({ role: 'user', content: '' }) + 1
}
