import { formats } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { countRendered, render } from '../formats/index.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import { countTokens } from '../tokens/tokens.js'
import { countLine } from './counting.js'

test.each([...formats])('system messages within a history cost at least as much as %s sends of them', (format) => {
  const request: NeutralMessage = { role: 'user', content: 'weave' }
  const notes = Array.from({ length: 9 }, (_, index): NeutralMessage => ({ role: 'system', content: `Note ${index}` }))
  const counting = { format, count: countTokens, storedCountsFit: true }
  const costs = notes.map((neutral) => {
    const message = { ...sampleMessage({ seq: 1, role: 'system', content: neutral.content }), tokensExact: true }
    return countLine(
      { neutral, sources: [{ message, fate: { mode: 'raw', content: neutral.content, reason: '' }, asText: false }] },
      counting,
    )
  })
  const sent = countRendered(render(format, [request, ...notes, request]).messages, countTokens)
  const beside = countRendered(render(format, [request, request]).messages, countTokens)
  expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeGreaterThanOrEqual(sent - beside)
})
