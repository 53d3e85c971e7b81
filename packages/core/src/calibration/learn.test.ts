import { expect, test } from 'vitest'
import { type CountedReply, learnCalibrations } from './learn.js'
import { providerOf } from './provider.js'

/** Turns that grow by text of a user and by results of tools in turn, which a provider counts differently. */
function replies(model: string): CountedReply[] {
  let counted = 1_000
  let reported = 3_000
  return Array.from({ length: 40 }, (_, turn) => {
    const added: Record<string, number> = turn % 2 === 0 ? { user: 500 } : { tool_result: 480, assistant: 20 }
    if (turn > 0) {
      counted += 500
      reported += turn % 2 === 0 ? 550 : 700
    }
    return { model, usage: { input_tokens: reported }, counted, threadId: 'one', added: turn === 0 ? null : added }
  })
}

test('each model has its own fit, and ratios by the kind of what was added', () => {
  const [claude, other] = learnCalibrations([...replies('claude-opus-4-5'), ...replies('acme/best').slice(0, 10)])
  expect(other).toBeUndefined()
  expect(claude).toMatchObject({ model: 'claude-opus-4-5', provider: 'anthropic', fit: { samples: 40 } })
  expect(claude?.fit.ratio).toBeCloseTo(1.25, 1)
  expect(claude?.kinds).toEqual({
    user: { ratio: 1.1, samples: 19 },
    tool_result: { ratio: 1.4, samples: 20 },
  })
})

test('a context that changed by more than its messages is not counted by their kind', () => {
  const compacted = replies('m').map((reply) => ({ ...reply, added: reply.added && { user: 20_000 } }))
  expect(learnCalibrations(compacted)[0]?.kinds).toEqual({})
})

test('the provider of a model is in front of its name, or follows from its family', () => {
  expect(['openrouter/claude-3', 'claude-3', 'gpt-4o', 'o3', 'gemini-2.5', 'house'].map(providerOf)).toEqual([
    'openrouter',
    'anthropic',
    'openai',
    'openai',
    'google',
    'unknown',
  ])
})
