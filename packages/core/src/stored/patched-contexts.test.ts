import { type ContextResult, formats } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { builtOrRefused } from '../../../../test/support/src/samples/context-faults.js'
import { conversationOf, conversationSteps } from '../../../../test/support/src/samples/conversations.js'
import { simulatedInput, unpublishedInput } from '../../../../test/support/src/samples/simulated-input.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import type { BuildInput } from '../assembly/input.js'
import { ineligibleReason } from '../conversation/eligibility.js'
import type { Message } from '../conversation/message.js'
import {
  applyPatch,
  contextDigest,
  type ElementDigests,
  KnownLines,
  type LineCache,
  nameTexts,
  ThreadTexts,
  toLines,
  toPatch,
} from './index.js'

/** The worker's forms of a thread's messages: those of another first object are of a thread that was read again. */
class WorkerForms {
  readonly #threads = new WeakMap<object, { lines: LineCache; texts: ThreadTexts; digests: ElementDigests }>()

  of(result: ContextResult, { messages, agent, request }: BuildInput) {
    const known = (messages[0] && this.#threads.get(messages[0])) ?? {
      lines: new WeakMap(),
      texts: new ThreadTexts(),
      digests: new WeakMap(),
    }
    if (messages[0] !== undefined) this.#threads.set(messages[0], known)
    known.texts.update(messages)
    const names = nameTexts(known.texts, agent, request)
    return {
      lines: toLines(result, names, () => false, new KnownLines(known.lines, known.texts.seqs)).lines,
      digest: contextDigest(result, known.digests),
    }
  }
}

const change = fc.record({
  erases: fc.option(fc.nat(), { freq: 4, nil: undefined }),
  budget: fc.option(fc.integer({ min: 1_500, max: 12_000 }), { freq: 3, nil: undefined }),
  format: fc.constantFrom(...formats),
  keepsFormat: fc.integer({ min: 0, max: 4 }).map((digit) => digit > 0),
  isReadAgain: fc.boolean(),
  message: fc.option(fc.constantFrom('Please weave on.', 'Please weave back.'), { freq: 3, nil: undefined }),
  systemPrompt: fc.constantFrom('You weave cloth all day.', 'You weave cloth all day.', 'You sew cloth all night.'),
})

const RUNS = propertyRuns(60)

test('whatever is appended, erased or requested otherwise, a patched context is the whole one byte for byte', () => {
  let taken = 0
  let erased = 0
  fc.assert(
    fc.property(conversationSteps(24), fc.array(change, { minLength: 8, maxLength: 8 }), (steps, changes) => {
      const thread = new SimulatedThread({ strategy: 'sandwich', budget: 8_000 })
      const worker = new WorkerForms()
      const digests: ElementDigests = new WeakMap()
      const secrets: string[] = []
      let base: { id: string; lines: readonly string[]; received: ContextResult } | null = null
      let format: Asked['format'] = formats[0]
      for (const [at, message] of conversationOf(steps).entries()) {
        const chosen = changes[at % changes.length]
        if (chosen === undefined) continue
        const { erases, budget, isReadAgain, ...asked } = chosen
        thread.arrive({ ...message, content: message.content && `${message.content} ${at}th of all` })
        const secret = erases === undefined ? null : erase(thread, erases)
        if (secret !== null) secrets.push(secret)
        if (isReadAgain) thread.stored.splice(0, Infinity, ...structuredClone(thread.stored))
        thread.settle()
        if (!asked.keepsFormat) format = asked.format
        const input = inputOf(thread, { ...asked, format }, budget)
        if (input.messages.length === 0) continue
        const built = builtOrRefused(input)
        if (built instanceof Error) continue
        const whole: ContextResult = { id: `${at}`, ...built }
        const { lines, digest } = worker.of(whole, input)
        const json = JSON.stringify(whole)
        if (base === null) base = { id: whole.id, lines, received: JSON.parse(json) }
        const sent = JSON.stringify(toPatch(whole, { lines, base, digest }))
        const patched = applyPatch(JSON.parse(sent), base.received, digests)
        expect(JSON.stringify(patched)).toBe(json)
        for (const text of secrets) expect(json).not.toContain(text)
        taken += json.length - sent.length
        if (patched !== null) base = { id: whole.id, lines, received: patched }
      }
      erased += secrets.length
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  expect(taken).toBeGreaterThan(6_000 * RUNS)
  expect(erased).toBeGreaterThan(RUNS)
})

interface Asked {
  readonly format: (typeof formats)[number]
  readonly message?: string | undefined
  readonly systemPrompt: string
}

function inputOf(thread: SimulatedThread, { format, message, systemPrompt }: Asked, budget?: number): BuildInput {
  const input =
    budget === undefined ? simulatedInput(thread, { format }) : unpublishedInput(thread, { budget }, { format })
  return {
    ...input,
    messages: input.messages.filter((one) => ineligibleReason(one) === null),
    agent: { ...input.agent, systemPrompt },
    request: { ...input.request, ...(message !== undefined && { message }) },
  }
}

/** Erases a message without calls, with all compactions. @returns its text; null if the chosen message has calls or no text */
function erase(thread: SimulatedThread, place: number): string | null {
  const at = place % thread.stored.length
  const message = thread.stored[at]
  if (message === undefined || !['user', 'assistant'].includes(message.role) || message.toolCalls.length > 0)
    return null
  if (message.content === '' || message.keptAside !== null) return null
  thread.stored[at] = blank(message)
  thread.series = []
  return message.content
}

function blank(message: Message): Message {
  return { ...message, content: '', thinking: [], keptAside: 'erased', tokens: 0 }
}
