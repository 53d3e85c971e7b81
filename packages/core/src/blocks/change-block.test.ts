import type { PermanentError } from '@heddle/contracts'
import { expect, test } from 'vitest'
import type { BlockContent } from './block.js'
import { type BlockChange, changeBlock } from './change-block.js'

const block = (value: string, fields: Partial<BlockContent> = {}): BlockContent => ({
  value,
  description: '',
  charactersMax: 40,
  readOnly: false,
  ...fields,
})

function refused(current: BlockContent | null, change: BlockChange): Partial<PermanentError> {
  try {
    changeBlock(current, change)
  } catch (error) {
    return error as PermanentError
  }
  throw new Error('the change was not refused')
}

test('a new block has the fields that were put, and defaults', () => {
  expect(changeBlock(null, { kind: 'put', description: 'the user' })).toEqual({
    value: '',
    description: 'the user',
    charactersMax: 5_000,
    readOnly: false,
  })
})

test('put changes given fields only, and nothing is the same object', () => {
  const before = block('a', { description: 'd' })
  expect(changeBlock(before, { kind: 'put', value: 'b' })).toEqual({ ...before, value: 'b' })
  expect(changeBlock(before, { kind: 'put', value: 'a', readOnly: false })).toBe(before)
})

test.each([
  ['', undefined, 'x'],
  ['a\nb', undefined, 'a\nb\nx'],
  ['a\nb', 0, 'x\na\nb'],
  ['a\nb', 1, 'a\nx\nb'],
])('into %j, a line is inserted after line %s', (value, afterLine, after) => {
  expect(changeBlock(block(value), { kind: 'insert', text: 'x', afterLine }).value).toBe(after)
})

test('a line beyond the block is refused', () => {
  expect(refused(block('a'), { kind: 'insert', text: 'x', afterLine: 2 })).toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'afterLine',
    received: '2',
  })
})

test('replace takes the part that occurs once, and inserts signs of patterns as they are', () => {
  expect(changeBlock(block('one two'), { kind: 'replace', oldText: 'two', newText: '$& $1' }).value).toBe('one $& $1')
  expect(refused(block('one'), { kind: 'replace', oldText: 'two', newText: '' }).message).toContain('does not have it')
  // The places overlap.
  expect(refused(block('aaa'), { kind: 'replace', oldText: 'aa', newText: '' }).message).toContain('more than once')
})

test('a value beyond the limit is refused with both lengths, by whatever change', () => {
  const long = 'x'.repeat(41)
  for (const change of [
    { kind: 'put', value: long },
    { kind: 'insert', text: long },
    { kind: 'rethink', value: long },
    { kind: 'replace', oldText: 'a', newText: long },
    { kind: 'put', limit: 1, value: 'ab' },
  ] as const) {
    expect(refused(block('a'), change)).toMatchObject({
      code: 'VALIDATION_ERROR',
      received: expect.stringMatching(/^\d+ characters$/),
    })
  }
})

test('a read-only block is changed by put alone', () => {
  const fixed = block('a', { readOnly: true })
  expect(changeBlock(fixed, { kind: 'put', value: 'b' }).value).toBe('b')
  for (const change of [
    { kind: 'insert', text: 'x' },
    { kind: 'replace', oldText: 'a', newText: 'b' },
    { kind: 'rethink', value: 'b' },
  ] as const)
    expect(refused(fixed, change)).toMatchObject({ code: 'FORBIDDEN' })
})
