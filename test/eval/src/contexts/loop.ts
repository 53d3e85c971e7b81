import { type BuildInput, ITERATIONS, isAssistantSide, type LoopContext, MESSAGES_LEFT_OUT } from '@heddle/core'
import { sampleIteration } from '@heddle/test-support/samples/iterations'
import { unpublishedInput } from '@heddle/test-support/samples/simulated-input'
import type { SimulatedThread } from '@heddle/test-support/samples/simulated-thread'

/** The limit of the store. */
const ITERATIONS_READ_MAX = 200

/** The input of a context of the strategy `iterations`, with a session's answers as iterations. */
export function loopInput(thread: SimulatedThread, fields: Partial<BuildInput>): BuildInput {
  const input = unpublishedInput(thread, { strategy: ITERATIONS }, fields)
  const answers = thread.stored.filter((message) => isAssistantSide(message) && message.content !== '')
  const loop: LoopContext = {
    goal: 'finish the session',
    iterations: answers
      .map((message, index) => sampleIteration({ id: message.id, number: index + 1, output: message.content }))
      .slice(-ITERATIONS_READ_MAX),
    summary: null,
    totalIterations: answers.length,
    startTime: null,
    currentCli: null,
    currentModel: null,
    envSnapshot: {},
    fileEvents: [],
  }
  const unloaded = [{ mode: 'left-out' as const, count: input.imported, tokens: 0, reason: MESSAGES_LEFT_OUT }]
  return { ...input, loop, messages: [], unloaded }
}
