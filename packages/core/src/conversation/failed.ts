import type { Message } from './message.js'

/** How the summary of a failed call begins, whatever its tool. */
const FAILED = 'failed: '

/** Whether an archived message is the result of a call that failed: it says so itself, or its output was read so. */
export function readsAsFailed(message: Message | undefined, summary: string): boolean {
  return message?.role === 'tool_result' && (message.isError || summary.startsWith(FAILED))
}
