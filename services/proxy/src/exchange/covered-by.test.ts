import type { ContextResult } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import type { KnownMessage } from '../record/known-messages.js'
import { coveredBy } from './covered-by.js'

type Shown = { readonly id?: string; readonly mode?: string; readonly text: string }

/** A context whose receipt has the given entries, in the order of its messages. */
function contextOf(shown: readonly Shown[], hidden: readonly string[] = []): ContextResult {
  const entries = [
    ...shown.map(({ id, mode = 'raw' }) => ({
      section: 'history',
      mode,
      count: id === undefined ? 0 : 1,
      messageId: id,
    })),
    ...hidden.map((mode) => ({ section: 'history', mode, count: 3 })),
  ]
  const messages = shown.map(({ text }) => ({ role: 'user', content: text }))
  return { messages, receipt: { entries } } as unknown as ContextResult
}

const known: readonly KnownMessage[] = ['a', 'b', 'c', 'd'].map((id, entry) => ({ id, key: id, entry }))

describe('a context in place of a history', () => {
  test('covers everything before the message that follows its summary', () => {
    const context = contextOf(
      [{ id: 'a', text: 'first' }, { text: 'a summary' }, { id: 'c', text: 'third' }],
      ['covered'],
    )
    const covered = coveredBy(context, known, 0)
    expect(covered?.before).toBe(2)
    expect(covered?.text).toContain('user: first\n\nuser: a summary')
    expect(covered?.text).not.toContain('third')
  })

  test('without a summary covers everything before the entries that are kept', () => {
    const context = contextOf([
      { id: 'a', mode: 'condensed', text: 'first' },
      { id: 'b', mode: 'stub', text: 'second' },
      { id: 'c', text: 'third' },
      { id: 'd', text: 'fourth' },
    ])
    expect(coveredBy(context, known, 2)).toEqual({ before: 2, text: expect.stringMatching(/first\n\nuser: second$/) })
  })

  test('is of no use if it leaves a message out, or shows no message that stays', () => {
    expect(coveredBy(contextOf([{ text: 'a summary' }, { id: 'c', text: 'third' }], ['left-out']), known, 0)).toBeNull()
    expect(coveredBy(contextOf([{ text: 'a summary' }]), known, 0)).toBeNull()
    expect(coveredBy(contextOf([{ id: 'a', text: 'first' }]), known, 3)).toBeNull()
  })
})
