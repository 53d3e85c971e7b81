import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { type BuildInput, estimateTokens, ineligibleReason, messageReference } from '@heddle/core'
import type { SimulatedThread } from './simulated-thread.js'

/** What the assemble stage loads for a request in the lane of a simulated thread. */
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

/** The same for a request in another lane, in which nothing was compacted yet. */
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
  return {
    agent: { name: 'coder', version: 1, systemPrompt: 'You write code.', docs: [] },
    thread: { name: 'run', title: null, goal: null, status: null },
    request: { thread: 'run' },
    settings: mergeSettings(settings),
    format: 'openai-chat',
    counter: 'o200k',
    count: estimateTokens,
    ineligible: {},
    imported: thread.stored.filter((message) => ineligibleReason(message) === null).length,
    stateId: null,
    headSeq: thread.stored.length,
    clearEpoch: 0,
    reference: (message) => messageReference(message.code),
  } satisfies Partial<BuildInput>
}
