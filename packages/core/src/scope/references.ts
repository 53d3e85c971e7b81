import { formatReference } from '../conversation/references.js'

/** A message's reference as it can be read outside of its thread. */
export function referenceIn(thread: string, code: string): string {
  return formatReference({ project: null, thread, message: code })
}

/** What was written for readers of one thread names its messages in short: others need the thread too. */
export function fromAnywhere(text: string, thread: string): string {
  return text.replaceAll('[recall:msg-', `[recall:${referenceIn(thread, '')}`)
}
