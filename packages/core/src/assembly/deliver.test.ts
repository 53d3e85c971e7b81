import { formats, HeddleError } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { validateContext } from '../../../../test/support/src/validators/index.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import { estimateTokens } from '../tokens/tokens.js'
import { deliver } from './deliver.js'
import type { BuildInput } from './input.js'

const inputOf = (format: (typeof formats)[number]) => ({ format, count: estimateTokens }) as BuildInput
const outgoing = (messages: readonly NeutralMessage[], budget = 100_000) => ({
  messages,
  stableEnds: [messages.length],
  tokensUsed: 1,
  toolsTokens: 0,
  budget,
})

const ids = fc.constantFrom('a', 'b', 'c')
const anyMessage: fc.Arbitrary<NeutralMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: fc.string() }),
  fc.record({ role: fc.constant('tool_result' as const), content: fc.string(), toolCallId: ids }),
  fc.record({
    role: fc.constantFrom('assistant' as const, 'user' as const),
    content: fc.string(),
    toolCalls: fc.array(fc.record({ id: ids, name: fc.constant('Read'), arguments: fc.constant({}) }), {
      maxLength: 3,
    }),
  }),
)

test.each(formats)('a context in %s is valid for its providers, whatever the strategy returns', (format) => {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
      const { rendered } = deliver(outgoing(messages), inputOf(format))
      expect(validateContext({ format, ...rendered })).toEqual([])
    }),
    { numRuns: 400 },
  )
})

test('a result without its call is kept as text, and a note says what was repaired', () => {
  const messages: NeutralMessage[] = [
    { role: 'user', content: 'go' },
    { role: 'tool_result', content: 'lonely', toolCallId: 'a', toolName: 'Read' },
  ]
  const { rendered, notes } = deliver(outgoing(messages), inputOf('openai-chat'))
  expect(rendered.messages.at(-1)).toEqual({ role: 'user', content: '[result of an earlier call of Read]\nlonely' })
  expect(notes).toEqual(['repaired for the rules of openai-chat: message 1 is a result that no open call waits for'])
})

test('a context that cannot be repaired within the budget is refused with the reasons', () => {
  const messages: NeutralMessage[] = [{ role: 'tool_result', content: 'x'.repeat(400), toolCallId: 'a' }]
  let thrown: unknown
  try {
    deliver(outgoing(messages, 10), inputOf('anthropic'))
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(HeddleError)
  expect((thrown as HeddleError).toJSON()).toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'format',
    received: 'anthropic',
    facts: { faults: [expect.stringContaining('no open call waits for')] },
  })
})
