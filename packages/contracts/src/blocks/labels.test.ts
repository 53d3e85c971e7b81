import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameSchema } from '../primitives/names.js'
import { blockLabelSchema, blockNameSchema, readBlockName, sharedBlockName } from './labels.js'

const label = fc.stringMatching(/^[a-z0-9][a-z0-9_.-]{0,20}$/)
const agent = fc
  .string({ minLength: 1, maxLength: 60, unit: 'grapheme' })
  .filter((name) => nameSchema.safeParse(name).success)

test('a shared block of any agent has a name that no block of one’s own has, and that leads back to both', () => {
  fc.assert(
    fc.property(fc.oneof(agent, fc.constantFrom('team/coder', 'a/b/c', '/')), label, (owner, own) => {
      const name = sharedBlockName(owner, own)
      expect(readBlockName(name)).toEqual({ sharedBy: owner, label: own })
      expect(blockNameSchema.safeParse(name).success).toBe(true)
      expect(blockLabelSchema.safeParse(name).success).toBe(false)
      expect(readBlockName(own)).toEqual({ sharedBy: null, label: own })
    }),
  )
})

test.each([
  ['', 'must not be empty'],
  ['<x', 'must begin with a letter'],
  ['coder/', 'must not be empty'],
  ['/human', 'must not be empty'],
  ['coder/<x', 'must begin with a letter'],
  [' coder/human', 'must not start or end with white space'],
  ['x'.repeat(65), 'at most 64 characters'],
  [`${'x'.repeat(201)}/human`, 'at most 200 characters'],
  ['x'.repeat(300), 'at most'],
])('%j names no block', (name, rule) => {
  expect(
    blockNameSchema
      .safeParse(name)
      .error?.issues.map(({ message }) => message)
      .join(),
  ).toContain(rule)
})
