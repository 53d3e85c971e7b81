import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Fact } from './fact.js'
import { rankFacts } from './rank.js'
import { factKey, heldAt, standingsOf } from './standings.js'

const fact = (id: string, object: string, more: Partial<Fact> = {}): Fact => ({
  ...{ id, scope: 'thread', subject: 'build time', predicate: 'duration', object, isNegated: false, isSingle: true },
  ...{ statement: `the build time is ${object}`, validFromMs: Number(id), validToMs: null, recordedAtMs: 0 },
  ...{ correctedBy: null, retractedAtMs: null, ...more },
})
const of = (facts: readonly Fact[], id: string) => standingsOf(facts).get(id)

describe('a later value of one subject and predicate', () => {
  test('replaces the earlier from then on, whatever the order of arrival', () => {
    const [first, second, third] = [fact('1', '4 min'), fact('2', '5 min'), fact('3', '6 min')]
    for (const facts of [
      [first, second, third],
      [third, first, second],
      [second, third, first],
    ]) {
      expect(of(facts, '1')).toEqual({ validToMs: 2, supersededBy: '2', conflictsWith: [] })
      expect(of(facts, '2')).toEqual({ validToMs: 3, supersededBy: '3', conflictsWith: [] })
      expect(of(facts, '3')).toEqual({ validToMs: null, supersededBy: null, conflictsWith: [] })
    }
  })

  test('of the same words in another order is of the same subject', () => {
    expect(of([fact('1', '4 min'), fact('2', '5 min', { subject: 'time of builds' })], '1')).toMatchObject({
      supersededBy: null,
    })
    expect(of([fact('1', '4 min'), fact('2', '5 min', { subject: 'Times build' })], '1')).toMatchObject({
      supersededBy: '2',
    })
  })

  test.each([
    ['another scope', { scope: 'other' }],
    ['another subject', { subject: 'test time' }],
    ['another predicate', { predicate: 'count' }],
    ['many values at a time', { isSingle: false }],
    ['a retraction', { retractedAtMs: 9 }],
    ['a correction of it', { correctedBy: '7' }],
  ])('replaces nothing with %s', (_, more) => {
    expect(of([fact('1', '4 min'), fact('2', '5 min', more)], '1')).toMatchObject({
      supersededBy: null,
      validToMs: null,
    })
  })

  test('that is the same replaces nothing', () => {
    expect(of([fact('1', '4 min'), fact('2', '4  MIN')], '1')).toMatchObject({ supersededBy: null })
  })

  test('since the same moment is in conflict instead', () => {
    const facts = [fact('1', '4 min'), fact('2', '5 min', { validFromMs: 1 })]
    expect(of(facts, '1')).toEqual({ validToMs: null, supersededBy: null, conflictsWith: ['2'] })
    expect(of(facts, '2')).toEqual({ validToMs: null, supersededBy: null, conflictsWith: ['1'] })
  })
})

test('what denies a fact stays beside it, both marked as in conflict', () => {
  const does = { subject: 'user', predicate: 'does', isSingle: false }
  const facts = [
    fact('1', 'written Flask routes for the tracker', does),
    fact('2', 'written any Flask routes', { ...does, isNegated: true }),
    fact('3', 'painted the shed', does),
  ]
  expect(of(facts, '1')).toEqual({ validToMs: null, supersededBy: null, conflictsWith: ['2'] })
  expect(of(facts, '2')).toMatchObject({ conflictsWith: ['1'] })
  expect(of(facts, '3')).toMatchObject({ conflictsWith: [] })
})

test('a corrected fact names the one in its place, held at no time, and replaces nothing', () => {
  const facts = [fact('1', '4 min'), fact('2', '5 min', { correctedBy: '3' }), fact('3', '6 min', { validFromMs: 2 })]
  const standings = standingsOf(facts)
  expect(standings.get('2')).toMatchObject({ supersededBy: '3' })
  expect(standings.get('1')).toMatchObject({ supersededBy: '3', validToMs: 2 })
  const held = facts.filter((each) => heldAt(each, standings.get(each.id) as never, 2))
  expect(held.map(({ id }) => id)).toEqual(['3'])
})

const facts = fc
  .array(
    fc.record({
      scope: fc.constantFrom('a', 'b'),
      subject: fc.constantFrom('build time', 'time build', 'price'),
      predicate: fc.constantFrom('is', 'does'),
      object: fc.constantFrom('4 min', '5 min', 'wrote flask routes', 'flask routes wrote'),
      isNegated: fc.boolean(),
      isSingle: fc.boolean(),
      validFromMs: fc.nat(6),
      validToMs: fc.option(fc.integer({ min: 7, max: 9 })),
      correctedBy: fc.option(fc.constant('0'), { freq: 5 }),
      retractedAtMs: fc.option(fc.constant(1), { freq: 5 }),
    }),
    { maxLength: 14 },
  )
  .map((rows) =>
    rows.map((row, index): Fact => ({ ...row, id: String(index), statement: row.object, recordedAtMs: 0 })),
  )

test('only a later fact of one scope, subject and predicate replaces another, and the order of arrival changes nothing', () => {
  fc.assert(
    fc.property(facts, fc.infiniteStream(fc.nat()), (rows, keys) => {
      const standings = standingsOf(rows)
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const row of rows) {
        const standing = standings.get(row.id)
        const next = byId.get(standing?.supersededBy ?? '')
        if (next !== undefined && row.correctedBy === null) {
          expect([factKey(next), next.isSingle, row.isSingle]).toEqual([factKey(row), true, true])
          expect(next.validFromMs).toBeGreaterThan(row.validFromMs)
        }
        for (const id of standing?.conflictsWith ?? []) {
          expect(factKey(byId.get(id) as Fact)).toBe(factKey(row))
          expect(standings.get(id)?.conflictsWith).toContain(row.id)
        }
      }
      const order = [...rows.entries()].map(([index, row]) => [keys.next().value ?? index, row] as const)
      const shuffled = order.sort(([left], [right]) => left - right).map(([, row]) => row)
      expect(new Map([...standingsOf(shuffled)].sort())).toEqual(new Map([...standings].sort()))
    }),
  )
})

test('of single values of one subject, one holds at each moment, unless two began at once', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(50), { minLength: 1 }), fc.nat(60), (starts, atMs) => {
      const rows = starts.map((start, index) => fact(String(index), `${index} min`, { validFromMs: start }))
      const standings = standingsOf(rows)
      const held = rows.filter((row) => heldAt(row, standings.get(row.id) as never, atMs))
      const latest = Math.max(...starts.filter((start) => start <= atMs))
      expect(held.map(({ validFromMs }) => validFromMs)).toEqual(Number.isFinite(latest) ? [latest] : [])
    }),
  )
})

test('for a question the newer of two values comes first, a denied fact beside its denial, and unrelated ones not at all', () => {
  const does = { subject: 'user', predicate: 'does', isSingle: false }
  const rows = [
    fact('1', '4 min', { statement: 'The build time is 4 min on the server' }),
    fact('2', '5 min', { statement: 'The build time is 5 min' }),
    fact('3', 'wrote Flask routes', { ...does, statement: 'I wrote Flask routes' }),
    fact('4', 'written Flask routes wrote', { ...does, isNegated: true, statement: 'I have not written Flask routes' }),
  ]
  const idsFor = (question: string) => rankFacts(question, rows, standingsOf(rows)).map(({ id }) => id)
  expect(idsFor('What is the build time on the server?')).toEqual(['2', '1'])
  expect(new Set(idsFor('Did I write routes?'))).toEqual(new Set(['3', '4']))
  expect(idsFor('Which paint?')).toEqual([])
})
