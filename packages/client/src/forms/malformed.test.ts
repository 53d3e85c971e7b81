import { HeddleError, messageInputSchema } from '@heddle/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAppend } from '../calls/append-input.js'
import { formNames } from './index.js'

/** Fields and values of all formats, so that generated entries are nearly valid. */
const fields = [
  'role content type text id choices message tool_calls tool_call_id function custom name arguments input function_call refusal',
  'tool_use_id is_error thinking signature data output call_id summary encrypted_content object response messages usage model',
  'toolCallId toolName value reason providerOptions anthropic redactedData prompt_tokens input_tokens cachedInputTokens toJSON',
]
  .join(' ')
  .split(' ')
const words = [
  'user assistant system developer tool function text refusal image tool_use tool_result thinking redacted_thinking',
  'message reasoning function_call function_call_output custom_tool_call shell_call shell_call_output item_reference',
  'web_search_call tool-call tool-result json error-text error-json execution-denied response constructor __proto__',
]
  .join(' ')
  .split(' ')

const values = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(...words),
    fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.constantFrom(undefined, 1n, Symbol('s'), new Date(Number.NaN), new Uint8Array(3)),
    tie('object'),
    fc.array(tie('object'), { maxLength: 3 }),
  ),
  object: fc.dictionary(fc.constantFrom(...fields), tie('value'), { maxKeys: 6 }),
}))
const entry = fc.oneof(
  fc.tuple(fc.constantFrom(...words), values.object).map(([role, rest]) => ({ ...(rest as object), role })),
  fc.tuple(fc.constantFrom(...words), values.object).map(([type, rest]) => ({ ...(rest as object), type })),
  values.value,
)

test.each(formNames)('anything appended in %s is read as valid messages or refused with a typed error', (format) => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 3 }), (messages) => {
      try {
        const read = readAppend({ agent: 'a', thread: 't', format, messages })
        for (const message of read.messages) expect(messageInputSchema.safeParse(message).success).toBe(true)
      } catch (error) {
        if (!(error instanceof HeddleError)) throw error
        expect(error.field).toMatch(/^messages(\.\d+|$)/)
      }
    }),
    { numRuns: 300 },
  )
})
