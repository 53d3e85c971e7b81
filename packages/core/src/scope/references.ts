import { formatReference } from '../conversation/references.js'

/** A message's reference that resolves outside its thread. */
export function referenceIn(thread: string, code: string): string {
  return formatReference({ project: null, thread, message: code })
}

/** Texts for readers of one thread use short references; readers elsewhere need the thread too. */
export function fromAnywhere(text: string, thread: string): string {
  return text.replaceAll('[recall:msg-', `[recall:${referenceIn(thread, '')}`)
}
