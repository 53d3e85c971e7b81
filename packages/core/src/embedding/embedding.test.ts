import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chunkText } from '../tokens/chunking.js'
import { itemText } from './item-text.js'
import { type ChunkPlace, packPlaces, unpackPlaces } from './places.js'

const place = fc
  .record({ seq: fc.nat({ max: 2 ** 31 }), from: fc.nat({ max: 1_000_000 }), length: fc.nat({ max: 500 }) })
  .map(({ seq, from, length }): ChunkPlace => ({ seq, from, to: from + length }))

test('packed places are read back unchanged, and two concatenated lists are read as both', () => {
  fc.assert(
    fc.property(fc.array(place), fc.array(place), (first, second) => {
      expect(unpackPlaces(packPlaces(first))).toEqual(first)
      expect(unpackPlaces(Buffer.concat([packPlaces(first), packPlaces(second)]))).toEqual([...first, ...second])
    }),
  )
})

test('the text of a rule or a reference is its name, its description and its text', () => {
  for (const type of ['rule', 'reference'] as const) {
    const item = { type, name: 'auth', description: 'How users sign in', text: 'Use OAuth.\n\nNever passwords.' }
    expect(itemText(item)).toBe('auth: How users sign in\n\nUse OAuth.\n\nNever passwords.')
    expect(itemText({ ...item, description: null })).toBe('auth\n\nUse OAuth.\n\nNever passwords.')
    expect(itemText({ ...item, description: '' })).toBe('auth\n\nUse OAuth.\n\nNever passwords.')
  }
})

test('the text of a tool is its name and its description', () => {
  const tool = { type: 'tool', name: 'read_file', description: 'Reads a file.', text: 'not a part of it' } as const
  expect(itemText(tool)).toBe('read_file: Reads a file.')
  expect(itemText({ ...tool, description: null })).toBe('read_file')
})

test('a short item is one chunk, and of a long one the name is in the first', () => {
  const short = { type: 'rule', name: 'tests', description: null, text: 'Write a test first.' } as const
  expect(chunkText(itemText(short)).map(({ text }) => text)).toEqual(['tests\n\nWrite a test first.'])
  const sentence = 'Every endpoint answers with a problem document where something went wrong. '
  const long = { ...short, type: 'reference', text: sentence.repeat(12).trim() } as const
  const chunks = chunkText(itemText(long)).map(({ text }) => text)
  expect(chunks).toEqual([`tests\n\n${sentence.repeat(6).trim()}`, sentence.repeat(6).trim()])
})
