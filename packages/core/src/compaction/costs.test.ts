import { expect, test } from 'vitest'
import { contentShapes } from '../../../../test/support/src/content-shapes/index.js'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { countTokens } from '../tokens/tokens.js'
import { countMessageTokens, countMessageTokensInSteps } from './costs.js'

test('a message of 48,000 characters is counted with pauses, to the same sum as without', () => {
  const content = contentShapes['chinese']?.(144_000) ?? ''
  const message = sampleMessage({
    seq: 1,
    content,
    toolCalls: [{ id: 'call-1', name: 'Bash', arguments: content }],
    thinking: [{ text: content, signature: 's' }],
  })
  const steps = countMessageTokensInSteps(message)
  let pauses = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) pauses++
  expect(step.value).toEqual(countMessageTokens(message, countTokens))
  expect(pauses).toBeGreaterThan(15)
})
