import type { PartialSettings } from '@heddle/contracts'
import { type BuildInput, ineligibleReason } from '@heddle/core'
import { sampleInput } from './sample-input.js'
import type { SimulatedThread } from './simulated-thread.js'

/** The input of the assemble stage for a request in the lane of a simulated thread. */
export function simulatedInput(thread: SimulatedThread, fields: Partial<BuildInput> = {}): BuildInput {
  const { state } = thread
  const covered = state === null ? 0 : thread.coveredBy(state).length
  return {
    ...requestOf(thread, thread.settings),
    messages: thread.uncovered(state),
    unloaded: [{ mode: 'covered', count: covered, tokens: 0, reason: 'summarized' }],
    state,
    ...fields,
  }
}

/** The same for a request in another lane, without a compaction. */
export function unpublishedInput(
  thread: SimulatedThread,
  settings: PartialSettings,
  fields: Partial<BuildInput> = {},
): BuildInput {
  return {
    ...requestOf(thread, { ...thread.settings, ...settings }),
    messages: thread.stored,
    unloaded: [],
    state: null,
    ...fields,
  }
}

function requestOf(thread: SimulatedThread, settings: PartialSettings) {
  const imported = thread.stored.filter((message) => ineligibleReason(message) === null).length
  return sampleInput({ format: 'openai-chat', imported, headSeq: thread.stored.length }, settings)
}
