import { PromptThread, promptAvailability } from '@heddle/ai-sdk/prompts'
import { RecentThreads } from '@heddle/client/adapters'
import type { Run } from './framework.js'
import { type HeddleOptions, threadOf } from './options.js'

/** @returns the thread of a run */
export function threadsOf(options: HeddleOptions): (run: Run) => PromptThread {
  const availability = promptAvailability(options)
  const threads = new RecentThreads((thread) => new PromptThread({ ...options, thread }, availability))
  return (run) => threads.of(threadOf(options, run))
}
