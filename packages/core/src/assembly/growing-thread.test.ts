import { type ContextResult, formats, type PartialSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { builtOrRefused } from '../../../../test/support/src/samples/context-faults.js'
import { conversationOf, conversationSteps } from '../../../../test/support/src/samples/conversations.js'
import { simulatedInput } from '../../../../test/support/src/samples/simulated-input.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import { fingerprint } from '../conversation/fingerprint.js'
import { digestedParts, type RenderedPart, renderedParts } from '../delivery/shared-prefix.js'
import {
  agentTexts,
  applyPatch,
  contextDigest,
  type ElementDigests,
  fromLines,
  KnownLines,
  type LineCache,
  messageTexts,
  nameTexts,
  ThreadTexts,
  toLines,
  toPatch,
} from '../stored/index.js'
import { estimateTokens } from '../tokens/tokens.js'
import type { BuildInput } from './input.js'

/** The forms of contexts of one thread, as the process that builds them remembers them. */
class Forms {
  readonly #parts = new WeakMap<object, RenderedPart>()
  readonly #lines: LineCache = new WeakMap()
  readonly #digests: ElementDigests = new WeakMap()
  readonly #texts = new ThreadTexts()

  of(result: Omit<ContextResult, 'id'>, { messages, agent, request }: BuildInput) {
    this.#texts.update(messages)
    return {
      parts: digestedParts(result, estimateTokens, this.#parts),
      digest: contextDigest({ ...result, id: '' }, this.#digests),
      lines: toLines(
        { ...result, id: '' },
        nameTexts(this.#texts, agent, request),
        () => false,
        new KnownLines(this.#lines, this.#texts.seqs),
      ),
    }
  }
}

const settings: PartialSettings[] = [{ strategy: 'sandwich' }, { strategy: 'sliding-window' }, { strategy: 'tree' }]

const RUNS = propertyRuns(60)

test('a context of a thread that grew is the same as one of messages that were just read, also as a patch of the last one', () => {
  let shared = 0
  let taken = 0
  fc.assert(
    fc.property(
      conversationSteps(30),
      fc.integer({ min: 1_500, max: 12_000 }),
      fc.constantFrom(...formats),
      fc.constantFrom(...settings),
      fc.option(fc.constantFrom('Please weave on.', 'msg-00000001'), { nil: undefined }),
      (steps, budget, format, chosen, said) => {
        const thread = new SimulatedThread({ ...chosen, budget })
        const forms = new Forms()
        let sent: { id: string; lines: readonly string[]; received: ContextResult } | null = null
        let before: ReadonlySet<object> = new Set()
        for (const [at, message] of conversationOf(steps).entries()) {
          thread.arrive(message)
          thread.settle()
          const input = simulatedInput(thread, { format })
          // A request with a new message, now and then, names its text by itself.
          const request = {
            ...input.request,
            ...(said !== undefined && at % 3 === 0 && { message: at % 2 === 0 ? said : `${said} (${at})` }),
          }
          const grown = { ...input, request }
          const read = { ...grown, messages: structuredClone(grown.messages) }
          const [context, fresh] = [builtOrRefused(grown), builtOrRefused(read)]
          if (context instanceof Error || fresh instanceof Error) {
            expect(String(context)).toBe(String(fresh))
            continue
          }
          expect(JSON.stringify(context)).toBe(JSON.stringify(fresh))
          const { parts, lines, digest } = forms.of(context, grown)
          expect(parts).toEqual(
            renderedParts(fresh, estimateTokens).map(({ text, tokens }) => ({ text: fingerprint(text), tokens })),
          )
          expect(JSON.stringify(fromLines(lines, textsOf(grown)))).toBe(JSON.stringify(context))
          const whole = { id: `${at}`, ...context }
          expect(digest).toEqual(contextDigest({ ...structuredClone(whole), id: '' }))
          if (sent !== null) {
            const patch = JSON.stringify(
              toPatch(whole, { lines: lines.lines, base: sent, digest: contextDigest(whole) }),
            )
            taken += JSON.stringify(whole).length - patch.length
            expect(JSON.stringify(applyPatch(JSON.parse(patch), sent.received))).toBe(JSON.stringify(whole))
          }
          sent = { id: whole.id, lines: lines.lines, received: structuredClone(whole) }
          shared += context.messages.filter((one) => before.has(one)).length
          before = new Set(context.messages)
        }
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  )
  expect(shared).toBeGreaterThan(60 * RUNS)
  expect(taken).toBeGreaterThan(6_000 * RUNS)
})

function textsOf({ messages, agent, request }: BuildInput): (name: string) => string | undefined {
  const agents = agentTexts(agent)
  return (name) => {
    if (name === 'q') return request.message
    if (name.startsWith('a')) return agents[Number(name.slice(1))]
    const [seq, index] = name.slice(1).split('.').map(Number)
    const found = messages.find((one) => one.seq === seq)
    return found && messageTexts(found)[index ?? 0]
  }
}
