import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { type BuildInput, estimateTokens, messageReference } from '@heddle/core'

/** The input of the assemble stage for a request of an uncompacted thread; `fields` override its defaults. */
export function sampleInput(fields: Partial<BuildInput> = {}, settings: PartialSettings = {}): BuildInput {
  const { messages = [] } = fields
  return {
    agent: { name: 'coder', version: 1, systemPrompt: 'You write code.', docs: [] },
    thread: { name: 'run', title: null, goal: null, status: null },
    request: { thread: 'run' },
    settings: mergeSettings(settings),
    format: 'neutral',
    counter: 'o200k',
    count: estimateTokens,
    messages,
    unloaded: [],
    ineligible: {},
    imported: messages.length,
    state: null,
    stateId: null,
    headSeq: messages.length,
    clearEpoch: 0,
    reference: ({ code }) => messageReference(code),
    ...fields,
  }
}
