import type { Message } from './message.js'

/** Prefix of the summary of a failed call, for every tool. */
const FAILED = 'failed: '

/**
 * Whether an archived message is the result of a failed call: it is marked as an error, or its output was classified as
 * one.
 */
export function readsAsFailed(message: Message | undefined, summary: string): boolean {
  return message?.role === 'tool_result' && (message.isError || summary.startsWith(FAILED))
}
