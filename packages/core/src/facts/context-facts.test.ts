import { expect, test } from 'vitest'
import { type ContextFact, factsAt } from './context-facts.js'

test('of facts that were recorded at one time, those of the newest messages are shown', () => {
  const facts = Array.from({ length: 50 }, (_, day): ContextFact => {
    const subject = `service ${day}`
    // Ids of facts are hashes: their order says nothing.
    const id = String((day * 37) % 50).padStart(2, '0')
    return {
      ...{
        id,
        scope: 'thread',
        thread: 'run',
        subject,
        predicate: 'is',
        object: 'up',
        isNegated: false,
        isSingle: true,
      },
      ...{ statement: `${subject} is up`, validFromMs: day, validToMs: null, recordedAtMs: 100 },
      ...{ correctedBy: null, correctedAtMs: null, retractedAtMs: null, codes: [] },
    }
  })
  const { held } = factsAt(facts, 200, 10)
  expect(held.map(({ fact }) => fact.validFromMs)).toEqual([49, 48, 47, 46, 45, 44, 43, 42, 41, 40])
})
