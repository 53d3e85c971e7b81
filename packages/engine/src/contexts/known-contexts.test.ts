import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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
    const long = (id: string, characters: number) => ({ ...contextOf(id), system: 'x'.repeat(characters) })
    for (let at = 0; at < 40; at++) known.keep(`${at}`, long(`${at}`, 1_000_000))
    expect(known.bytes).toBeGreaterThan(10_000_000)
    expect(known.bytes).toBeLessThanOrEqual(16_000_000)
    expect(known.find('0')).toBeUndefined()
    expect(known.find('39')?.id).toBe('39')
    known.keep('39', long('large', 9_000_000))
    expect(known.find('39')).toBeUndefined()
  })

  it('are freed after ten minutes, also if no other context is requested, by one timer', () => {
    let nowMs = 1
    const timers: (() => void)[] = []
    const known = new KnownContexts({ nowMs: () => nowMs, after: (_, callback) => timers.push(callback) })
    const passMs = (ms: number) => {
      nowMs += ms
      for (const callback of timers.splice(0)) callback()
    }
    for (let at = 0; at < 10; at++) known.keep(`${at}`, contextOf(`${at}`))
    expect(timers).toHaveLength(1)
    passMs(300_000)
    known.keep('later', contextOf('later'))
    expect(timers).toHaveLength(1)
    const bytes = known.bytes
    passMs(301_000)
    expect(known.find('0')).toBeUndefined()
    expect(known.find('later')?.id).toBe('later')
    expect(known.bytes).toBeLessThan(bytes / 5)
    passMs(300_000)
    expect(known.bytes).toBe(0)
    expect(timers).toHaveLength(0)
  })

  it('are freed with the client that has them', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const timers: (() => void)[] = []
    const openedAndLeft = () => {
      const known = new KnownContexts({ after: (_, callback) => timers.push(callback) })
      const context = contextOf('first')
      known.keep('one', context)
      return new WeakRef(context)
    }
    const left = openedAndLeft()
    // A reference lasts until the end of the turn in which it was made or read.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    expect(timers).toHaveLength(1)
    expect(left.deref()).toBeUndefined()
    for (const callback of timers) callback()
  })

  it('do not keep a process running', () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    new KnownContexts().keep('one', contextOf('first'))
    expect(timers()).toBe(before)
  })
})
