import { describe, expect, test } from 'vitest'
import { type ItemFigures, suggestionFor } from './suggestions.js'

const figures = (given: Partial<ItemFigures> = {}): ItemFigures => ({
  type: 'tool',
  includeMode: 'agent',
  contextsSince: 100,
  contexts: 40,
  answered: 40,
  used: 20,
  threadsByHand: 0,
  threads: 10,
  ...given,
})
const action = (given: Partial<ItemFigures>) => suggestionFor(figures(given))?.action ?? null

describe('the suggestion for an item', () => {
  test('is absent while it is shown and used, or too few contexts were counted', () => {
    expect(action({})).toBeNull()
    expect(action({ answered: 19, used: 0 })).toBeNull()
    expect(action({ contexts: 0, contextsSince: 19, answered: 0, used: 0 })).toBeNull()
  })

  test('is drop if no reply ever used it, or no context ever showed it', () => {
    expect(suggestionFor(figures({ used: 0 }))).toEqual({ action: 'drop', reason: 'none of the 40 replies used it' })
    expect(suggestionFor(figures({ used: 0, type: 'rule' }))?.reason).toContain('without a trace')
    expect(action({ contexts: 0, answered: 0, used: 0 })).toBe('drop')
    expect(action({ contexts: 0, answered: 0, used: 0, includeMode: 'manual' })).toBeNull()
  })

  test('is always if most contexts selected it and most replies used it', () => {
    expect(action({ contexts: 80, answered: 80, used: 40 })).toBe('always')
    expect(action({ contexts: 79, answered: 79, used: 79 })).toBeNull()
    expect(action({ contexts: 80, answered: 80, used: 39 })).toBeNull()
  })

  test('is always if people repeatedly add it by hand', () => {
    expect(action({ includeMode: 'manual', threadsByHand: 5, used: 0 })).toBe('always')
    expect(action({ includeMode: 'manual', threadsByHand: 4 })).toBeNull()
    expect(action({ includeMode: 'manual', threadsByHand: 5, threads: 11 })).toBeNull()
    expect(action({ includeMode: 'always', threadsByHand: 10 })).toBeNull()
  })

  test('is selection by meaning if it is always there and seldom used', () => {
    expect(action({ includeMode: 'always', used: 4 })).toBe('agent')
    expect(action({ includeMode: 'manual', used: 4 })).toBe('agent')
    expect(action({ includeMode: 'always', used: 5 })).toBeNull()
  })
})
