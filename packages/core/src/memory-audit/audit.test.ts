import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import type { Message } from '../conversation/message.js'
import { finish } from '../recall/steps.js'
import { toolCatalogOf } from '../tools/catalog.js'
import { auditMessages } from './audit.js'
import { NearCopies, signatureOf } from './near-copies.js'

const catalog = toolCatalogOf([])
const WORDS =
  'loom thread warp weft shuttle reed beam cloth pattern draft treadle lamm heddle pick shed yarn selvage'.split(' ')
/** A text of its own for each number. */
const text = (number: number, words = 40) =>
  Array.from({ length: words }, (_, at) => WORDS[(number * 7 + at * (number + 3)) % WORDS.length]).join(' ') +
  ` no ${'abcdefghij'[number % 10]}`

function audit(fields: readonly Partial<Message>[], threadOf = (_: number) => 'one') {
  const messages = fields.map((field, index) => ({
    threadId: threadOf(index),
    message: sampleMessage({ seq: index + 1, ...field }),
  }))
  const found = finish(auditMessages(messages, catalog))
  return Object.fromEntries([...found].map(([kind, own]) => [kind, own.map(({ message }) => message.seq)]))
}

const call = (id: string, name: string, args: Record<string, string>) =>
  ({ role: 'assistant', content: '', toolCalls: [{ id, name, arguments: args }] }) as const
const result = (id: string, content: string) => ({ role: 'tool_result', toolCallId: id, content }) as const

describe('an audit', () => {
  test('counts a copy from its second appearance on, in whatever thread, and leaves short words alone', () => {
    const found = audit(
      [{ content: text(1) }, { content: 'yes' }, { content: text(1) }, { content: 'yes' }, { content: text(1) }],
      (index) => `thread-${index}`,
    )
    expect(found).toEqual({ duplicate: [3, 5] })
  })

  test('counts texts that differ by a few words or numbers as near copies', () => {
    const log = (at: string, more = '') =>
      `${at} the build of the service ${more} finished with all of its tests passed ${text(2)}`
    expect(audit([{ content: log('12:01') }, { content: log('13:59') }, { content: text(3) }])).toEqual({
      'near-duplicate': [2],
    })
  })

  test('counts a loop from the third equal call in a row on', () => {
    const calls = ['a', 'a', 'b', 'a', 'a', 'a', 'a'].map((name, index) => call(`c${index}`, 'Bash', { command: name }))
    expect(audit(calls)['loop']).toEqual([6, 7])
  })

  test('counts views that a later edit of their file made outdated', () => {
    const found = audit([
      call('1', 'Read', { file_path: '/repo/a.ts' }),
      result('1', 'const a = 1'),
      call('2', 'Read', { file_path: '/repo/b.ts' }),
      result('2', 'const b = 1'),
      call('3', 'Edit', { file_path: '/repo/a.ts', old_string: '1', new_string: '2' }),
      result('3', 'The file /repo/a.ts has been updated.'),
    ])
    expect(found['stale']).toEqual([2])
  })

  test("counts text that a program wrote in a user's place, and secrets in texts and calls", () => {
    const found = audit([
      { role: 'user', content: '<system-reminder>The list of todos is empty.</system-reminder>' },
      { role: 'user', content: '<system-reminder>Be brief.</system-reminder> Fix the login please.' },
      { role: 'user', content: `use the key ${'sk-'}${'a1B2'.repeat(8)}` },
      call('1', 'Bash', { command: `curl -H "Authorization: Bearer ${'x9Y8'.repeat(8)}" example.org` }),
    ])
    expect(found).toMatchObject({ transient: [1], secret: [3, 4] })
  })

  test('finds nothing in texts that are different', () => {
    expect(audit(Array.from({ length: 9 }, (_, index) => ({ content: text(index) })))).toEqual({})
  })
})

test('a text is a near copy of itself with one word changed, and random texts are not of each other', () => {
  const words = fc.array(fc.string({ unit: fc.constantFrom(...'abcdefghijklmnop'), minLength: 3, maxLength: 8 }), {
    minLength: 80,
    maxLength: 200,
  })
  fc.assert(
    fc.property(words, words, (one, other) => {
      const copies = new NearCopies()
      const added = signatureOf(one.join(' '))
      const unrelated = signatureOf(other.join(' '))
      if (added === null || unrelated === null) return
      expect(copies.isCopy(added)).toBe(false)
      expect(copies.isCopy(unrelated)).toBe(false)
      const changed = signatureOf([...one.slice(0, 40), 'changed', ...one.slice(41)].join(' '))
      expect(changed === null || copies.isCopy(changed)).toBe(true)
    }),
    { numRuns: 200 },
  )
})
