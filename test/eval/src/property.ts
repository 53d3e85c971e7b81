import { PermanentError } from '@heddle/contracts'
import { buildContext, ineligibleReason, type Message } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { conversationOf, conversationSteps, type Step } from '@heddle/test-support/samples/conversations'
import { simulatedInput } from '@heddle/test-support/samples/simulated-input'
import { archiveKey, SimulatedThread } from '@heddle/test-support/samples/simulated-thread'
import { validateAnthropic, validateOpenAiChat } from '@heddle/test-support/validators/index'
import fc from 'fast-check'

/** How often a thread is compacted while its messages arrive. */
const ROUNDS = 20
const STEPS_MAX = 60
/** A message can arrive this many places late. */
const LATE_MAX = 12
/** Histories of one seed, which a failure reports. */
const BATCH = 100

interface History {
  readonly steps: Step[]
  readonly budget: number
  readonly delays: number[]
  readonly undone: number[]
}

const histories: fc.Arbitrary<History> = fc.record({
  steps: conversationSteps(STEPS_MAX),
  budget: fc.integer({ min: 600, max: 6_000 }),
  delays: fc.array(fc.integer({ min: 0, max: LATE_MAX }), { minLength: 1, maxLength: 40 }),
  undone: fc.array(fc.nat({ max: 200 }), { maxLength: 3 }),
})

/**
 * Compacts generated histories repeatedly while their messages arrive, also out of order, and counts those that violate a
 * guarantee: a stored message was changed, lost or counted twice, could not be recalled to the byte, or is in
 * a context that a provider refuses.
 */
export async function measureProperty(count: number): Promise<Measured[]> {
  let broken = 0
  for (let done = 0; done < count; done += BATCH) {
    for (const [index, history] of fc
      .sample(histories, { seed: done, numRuns: Math.min(BATCH, count - done) })
      .entries()) {
      const fault = faultOf(history)
      if (fault === null) continue
      broken++
      process.stderr.write(`history ${index} of seed ${done}: ${fault}\n`)
    }
  }
  return [
    {
      name: 'prune.property',
      value: broken,
      unit: 'histories',
      target: '<= 0',
      note: `of ${count}, each compacted ${ROUNDS} times while it grew`,
    },
  ]
}

export function faultOf({ steps, budget, delays, undone }: History): string | null {
  const messages = conversationOf(steps).map((message, index) =>
    undone.includes(index) ? { ...message, undone: true } : message,
  )
  const arriving = messages
    .map((message, index) => ({ message, at: index + (delays[index % delays.length] ?? 0) }))
    .sort((left, right) => left.at - right.at)
  const thread = new SimulatedThread({ budget })
  for (let round = 0; round < ROUNDS; round++) {
    const from = Math.floor((arriving.length * round) / ROUNDS)
    const to = Math.floor((arriving.length * (round + 1)) / ROUNDS)
    for (const { message } of arriving.slice(from, to)) thread.arrive(message)
    const before = JSON.stringify(thread.stored)
    thread.settle()
    const fault = JSON.stringify(thread.stored) === before ? faultOfRound(thread) : 'a stored message was changed'
    if (fault !== null) return `round ${round}: ${fault}`
  }
  return null
}

function faultOfRound(thread: SimulatedThread): string | null {
  const { state } = thread
  const eligible = thread.stored.filter((message) => ineligibleReason(message) === null)
  const covered = new Set(state === null ? [] : thread.coveredBy(state).map(({ id }) => id))
  const left = new Set(thread.uncovered(state).map(({ id }) => id))
  for (const message of eligible) {
    if (covered.has(message.id) === left.has(message.id)) return `${message.id} is not there exactly once`
    const pruning = state?.prunings.get(message.id)
    if (pruning === undefined) continue
    const contentAt = (location: string) => thread.archive.get(archiveKey({ messageId: message.id, location }))?.content
    const isInputAlone = pruning.action === 'condense' && pruning.text === ''
    if (!isInputAlone && contentAt('') !== contentOf(message, pruning.action)) {
      return `${message.id} does not come back to the byte`
    }
    const lost = pruning.calls?.find(
      ({ number }) => contentAt(`tool-${number}`) !== JSON.stringify(message.toolCalls[number - 1]),
    )
    if (lost !== undefined) return `call ${lost.number} of ${message.id} does not come back to the byte`
  }
  return faultOfContexts(thread, eligible.length)
}

/** A message that is removed with its result contains only a call. */
function contentOf({ role, content, toolCalls }: Message, action: string): string {
  return action === 'remove' && role !== 'tool_result' ? JSON.stringify(toolCalls) : content
}

function faultOfContexts(thread: SimulatedThread, eligible: number): string | null {
  for (const format of ['openai-chat', 'anthropic'] as const) {
    try {
      const request = { thread: 'run', message: 'go on' }
      const context = buildContext(simulatedInput(thread, { format, request }))
      const faults =
        format === 'anthropic' ? validateAnthropic(context as never) : validateOpenAiChat(context.messages as never)
      if (faults.length > 0) return `${format} refuses the context: ${JSON.stringify(faults[0])}`
      if (context.tokensUsed > context.budget) return `${context.tokensUsed} tokens of ${context.budget} are used`
      if (context.receipt.eligible !== eligible) return 'the receipt does not account for every message'
    } catch (error) {
      // Some histories need more than so small a budget, whatever is compacted: the request then fails.
      if (!(error instanceof PermanentError && error.code === 'BUDGET_TOO_SMALL')) throw error
    }
  }
  return null
}
