import { formats, type PartialSettings, sectionOrders } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Built,
  builtOrRefused,
  isOverBudget,
  unaccounted,
} from '../../../../test/support/src/samples/context-faults.js'
import { conversationOf, conversationSteps, sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { simulatedInput } from '../../../../test/support/src/samples/simulated-input.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import type { ContextBlock } from '../blocks/index.js'
import { renderedParts, sharedPrefixTokens } from '../delivery/shared-prefix.js'
import { estimateTokens } from '../tokens/tokens.js'
import { buildContext } from './build.js'

function block(label: string, value: string, change: string | null = null): ContextBlock {
  const base = { version: 1, value, description: '', charactersMax: 20_000, readOnly: false, removed: false }
  return { scope: 'agent', label, base, current: change === null ? base : { ...base, version: 2, value: change } }
}

const messages = [
  sampleMessage({ seq: 1, content: 'Build it.' }),
  sampleMessage({ seq: 2, role: 'assistant', content: 'It is built.' }),
]

function build(blocks: readonly ContextBlock[], settings: PartialSettings = {}, fields = {}) {
  return buildContext(sampleInput({ messages, blocks, ...fields }, settings))
}

describe('memory blocks in contexts', () => {
  test('come before the history, and their changes after it', () => {
    const context = build([block('human', 'tea', 'coffee')])
    const texts = context.messages.map(({ content }) => String(content))
    expect(texts.map((text) => text.split('\n')[1] ?? text)).toEqual([
      'You write code.',
      'tea',
      'Build it.',
      'It is built.',
      'coffee',
    ])
    expect(
      context.receipt.entries.flatMap(({ section, block: shown }) => (shown ? [{ section, ...shown }] : [])),
    ).toEqual([
      { section: 'blocks', scope: 'agent', label: 'human', version: 1 },
      { section: 'block-changes', scope: 'agent', label: 'human', version: 2 },
    ])
    expect(context.receipt.sections.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['blocks', 'block-changes']),
    )
  })

  test.each(formats.flatMap((format) => sectionOrders.map((order) => ({ format, order }))))(
    'a change leaves everything before it as it was, in $format and $order',
    ({ format, order }) => {
      const settings = { sections: { order } }
      const before = build([block('human', 'tea'), block('plan', 'go')], settings, { format })
      const after = build([block('human', 'tea', 'coffee'), block('plan', 'go')], settings, { format })
      const parts = renderedParts(before, estimateTokens)
      const tokens = parts.reduce((sum, part) => sum + part.tokens, 0)
      expect(tokens).toBeGreaterThan(0)
      expect(sharedPrefixTokens(parts, renderedParts(after, estimateTokens))).toBe(tokens)
    },
  )

  test('those that do not fit into their allocation are left out, with a line that says so', () => {
    const { receipt } = build([block('long', 'x'.repeat(8_000)), block('short', 'y')], {
      sections: { allocations: { blocks: 200 } },
    })
    const lines = receipt.entries.flatMap(({ block: of, mode, reason }) => (of ? [[of.label, mode, reason]] : []))
    expect(lines).toEqual([
      ['short', 'raw', 'a memory block of the agent'],
      ['long', 'left-out', 'it did not fit'],
    ])
  })

  test('contexts without blocks have no such sections', () => {
    const { receipt } = build([])
    expect(JSON.stringify(receipt)).not.toContain('block')
  })

  test.each(['sandwich', 'tree', 'sliding-window', 'full-history'])(
    'never take %s over its budget, and every message is accounted for',
    (strategy) => {
      let built = 0
      const text = fc.integer({ min: 0, max: 3_000 }).map((length) => 'word '.repeat(length / 5))
      const anyBlock = fc.tuple(text, fc.option(text)).map(([value, change]) => block('b', value, change))
      fc.assert(
        fc.property(
          conversationSteps(30),
          fc.integer({ min: 500, max: 8_000 }),
          fc.constantFrom(...formats),
          fc.array(anyBlock, { maxLength: 5 }),
          (steps, budget, format, blocks) => {
            const thread = new SimulatedThread({ strategy, budget })
            for (const message of conversationOf(steps)) thread.arrive(message)
            thread.settle()
            if (thread.stored.length === 0) return
            const input = simulatedInput(thread, { format, blocks })
            const context: Built | Error = builtOrRefused(input)
            if (context instanceof Error) return
            built++
            expect(isOverBudget(context, input.count)).toBe(false)
            expect(unaccounted(thread, input, context)).toBe(0)
          },
        ),
        { numRuns: 60 },
      )
      expect(built).toBeGreaterThan(20)
    },
  )
})
