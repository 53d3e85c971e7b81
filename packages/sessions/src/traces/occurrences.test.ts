import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HashTable } from '../hash-table.js'
import { Occurrences, type Said } from './occurrences.js'

const said = (hash: string, more: Partial<Said> = {}): Said => ({
  hash,
  isReply: false,
  isOnce: false,
  isAssistant: false,
  ...more,
})
const system = said('be brief', { isOnce: true })
const reply = (hash: string) => said(hash, { isReply: true, isAssistant: true })
const repeated = ({ hash }: Said) => said(hash, { isAssistant: true })

function storedOf(calls: readonly (readonly Said[])[]): string[] {
  const occurrences = new Occurrences(new HashTable(), 0)
  return calls.flatMap((call) => {
    const numbers = occurrences.next(call)
    return call.flatMap(({ hash }, index) => (numbers[index] === null ? [] : [hash]))
  })
}

test('calls with their newest messages alone have equal words and replies again, and their instructions once', () => {
  const words = ['port?', 'yes', 'yes', 'go on', 'yes']
  const replies = ['5433?', 'ok', 'ok', 'done', 'ok']
  const calls = words.map((word, at) => [system, said(word), reply(replies[at] ?? '')])
  expect(storedOf(calls)).toEqual([system.hash, ...words.flatMap((word, at) => [word, replies[at]])])
})

test('a conversation that each call repeats, also from the middle, is there once', () => {
  const turns = ['port?', 'yes', 'yes', 'yes', 'go on']
  const words = fc.array(fc.constantFrom(...turns), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(words, fc.integer({ min: 2, max: 30 }), (spoken, window) => {
      const history: Said[] = []
      const calls = spoken.map((word) => {
        history.push(said(word))
        // A window of the conversation has a reply in it, except for its first call.
        const call = [system, ...history.slice(-window), reply(`to ${word}`)]
        history.push(repeated(reply(`to ${word}`)))
        return call
      })
      const stored = storedOf(calls)
      const isWhole = window >= history.length
      if (isWhole) expect(stored).toEqual([system.hash, ...history.map(({ hash }) => hash)])
      expect(new Set(stored)).toEqual(new Set([system.hash, ...history.map(({ hash }) => hash)]))
    }),
  )
})

test('a call that is tried again, or sampled, adds only what differs', () => {
  const asked = [system, said('port?')]
  expect(storedOf([asked, [...asked, reply('5433')], [...asked, reply('5432')]])).toEqual([
    system.hash,
    'port?',
    '5433',
    '5432',
  ])
  const goesOn = [...asked, reply('5433')]
  expect(storedOf([goesOn, [said('sure?')], [said('sure?'), reply('yes')], [said('sure?'), reply('yes')]])).toEqual([
    system.hash,
    ...['port?', '5433', 'sure?', 'yes', 'sure?', 'yes'],
  ])
})

test('results of tools are known by their calls', () => {
  const result = said('result of call_1', { isOnce: true })
  const calls = [[said('port?'), reply('call_1')], [said('look'), reply('call_2')], [result], [result, reply('5433')]]
  expect(storedOf(calls)).toEqual(['port?', 'call_1', 'look', 'call_2', 'result of call_1', '5433'])
})
