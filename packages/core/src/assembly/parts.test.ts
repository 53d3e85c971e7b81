import { formats, HeddleError, type PartialSettings } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { conversationsWithParts } from '../../../../test/support/src/samples/parts.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { validateContext } from '../../../../test/support/src/validators/index.js'
import type { Message } from '../conversation/message.js'
import { countRendered, countSystem } from '../formats/index.js'
import { fillSlots } from '../parts/index.js'
import { estimateTokens } from '../tokens/tokens.js'
import { buildContext } from './build.js'

const strategies = fc.constantFrom('sandwich' as const, 'sliding-window' as const, 'full-history' as const)

function built(messages: readonly Message[], format: (typeof formats)[number], settings: PartialSettings) {
  try {
    return buildContext(sampleInput({ messages, format }, settings))
  } catch (error) {
    if (error instanceof HeddleError && error.code === 'BUDGET_TOO_SMALL') return error
    throw error
  }
}

test('any conversation with images, documents and audio gives a valid context within its budget', () => {
  const budgets = fc.integer({ min: 300, max: 60_000 })
  fc.assert(
    fc.property(
      conversationsWithParts(),
      budgets,
      strategies,
      fc.constantFrom(...formats),
      (messages, budget, strategy, format) => {
        const context = built(messages, format, { budget, strategy })
        if (context instanceof HeddleError) {
          expect(context.facts?.['needed']).toBeGreaterThan(budget)
          return
        }
        expect(context.tokensUsed).toBeLessThanOrEqual(budget)
        const real = countRendered(context.messages, estimateTokens) + countSystem(context.system, estimateTokens)
        expect(real).toBeLessThanOrEqual(context.tokensUsed)
        const filled = { ...context, messages: fillSlots(context.messages, () => 'aGVkZGxl') }
        expect(validateContext(filled)).toEqual([])
      },
    ),
    { numRuns: propertyRuns(50) },
  )
})

test('every part of a shown message is delivered or named by its own reference', () => {
  fc.assert(
    fc.property(conversationsWithParts(30), fc.constantFrom(...formats), (messages, format) => {
      const context = built(messages, format, { budget: 20_000_000, strategy: 'full-history' })
      // A pinned document may be larger than any window; an elided message may lose its lines about parts.
      if (context instanceof HeddleError || context.receipt.entries.some(({ mode }) => mode === 'elided')) return
      const json = JSON.stringify(context.messages)
      const parts = messages.flatMap((message) => message.parts ?? [])
      const named = json.match(/:part-\d+\]/g)?.length ?? 0
      const delivered = [...json.matchAll(/"(?:data|url|image|image_url|file_data|file_url|file_id|fileId)":"[^"]/g)]
        .length
      // In the neutral format a part with inline bytes has no URL, so each part has exactly one of these fields.
      expect(named + delivered).toBe(parts.length)
    }),
    { numRuns: propertyRuns(30) },
  )
})

test('a message that is too long for the budget is elided and still names its parts', () => {
  const shown = sampleMessage({
    seq: 1,
    content: 'Look at this.',
    parts: [
      { type: 'image', mediaType: 'image/png', sha256: 'a'.repeat(64), bytes: 9_000, width: 1_500, height: 1_500 },
    ],
    tokens: 3_010,
  })
  const context = built([shown, sampleMessage({ seq: 2, role: 'assistant' }), sampleMessage({ seq: 3 })], 'anthropic', {
    budget: 700,
    strategy: 'full-history',
  })
  if (context instanceof HeddleError) throw context
  expect(context.receipt.entries.find(({ fromSeq }) => fromSeq === 1)).toMatchObject({ mode: 'elided' })
  expect(JSON.stringify(context.messages)).toMatch(
    /Look at this.*\[image image\/png 1500x1500, 9 kB\] \[recall:\S+:part-1\]/,
  )
})

test('of more images than one request may carry, the newest are delivered and the others are named in text', () => {
  const image = (mib: number) => ({
    type: 'image' as const,
    mediaType: 'image/png',
    sha256: 'b'.repeat(64),
    bytes: mib * 1024 * 1024,
    width: 100,
    height: 100,
  })
  const fates = (messages: readonly Message[]) => {
    const context = built(messages, 'anthropic', { budget: 1_000_000, strategy: 'full-history' })
    if (context instanceof HeddleError) throw context
    return context.receipt.entries
      .filter(({ section }) => section === 'history')
      .flatMap(({ mode, count }) => Array.from({ length: count }, () => mode))
  }
  const large = [1, 2, 3, 4].map((seq) => sampleMessage({ seq, parts: [image(10)] }))
  expect(fates(large)).toEqual(['elided', 'elided', 'raw', 'raw'])
  const many = [1, 2, 3].map((seq) => sampleMessage({ seq, parts: Array.from({ length: 40 }, () => image(0.001)) }))
  expect(fates(many)).toEqual(['elided', 'raw', 'raw'])
})
