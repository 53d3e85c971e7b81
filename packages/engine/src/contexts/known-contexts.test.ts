import type { ContextResult } from '@heddle/contracts'
import { describe, expect, it } from 'vitest'
import { KnownContexts } from './known-contexts.js'

const contextOf = (id: string, tokensUsed = 10) =>
  ({
    id,
    tokensUsed,
    messages: [{ role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { arguments: '{}' } }] }],
    tools: [],
    items: [],
    receipt: { entries: [{ section: 'history', tokens: 3 }], notes: ['one'] },
  }) as unknown as ContextResult

describe('known contexts', () => {
  it('are the last ones of their requests', () => {
    const known = new KnownContexts()
    expect(known.find('one')).toBeUndefined()
    known.keep('one', contextOf('first'))
    known.keep('other', contextOf('second'))
    known.keep('one', contextOf('third'))
    expect([known.find('one')?.id, known.find('other')?.id]).toEqual(['third', 'second'])
  })

  it('are not changed by what callers do with theirs', () => {
    const known = new KnownContexts()
    const given = known.keep('one', contextOf('first'))
    expect(given).toEqual(contextOf('first'))
    Object.assign(given.receipt.entries[0] ?? {}, { tokens: 4 })
    given.receipt.notes.push('two')
    const [message] = given.messages as unknown as { tool_calls: { function: object }[] }[]
    Object.assign(message?.tool_calls[0]?.function ?? {}, { arguments: 'changed' })
    given.messages.pop()
    expect(known.find('one')).toEqual(contextOf('first'))
  })

  it('are within a limit of bytes, also each of them', () => {
    const known = new KnownContexts()
    for (let at = 0; at < 60; at++) known.keep(`${at}`, contextOf(`${at}`, 32_000))
    expect(known.find('0')).toBeUndefined()
    expect(known.find('59')?.id).toBe('59')
    known.keep('59', contextOf('large', 5_000_000))
    expect(known.find('59')).toBeUndefined()
  })
})
