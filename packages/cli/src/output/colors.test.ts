import { expect, test } from 'vitest'
import { wantsColor } from './colors.js'

const [terminal, pipe] = [{ isTTY: true }, {}]

test('a terminal gets colours and a pipe does not', () => {
  expect([wantsColor({}, terminal), wantsColor({}, pipe)]).toEqual([true, false])
  expect(wantsColor({ TERM: 'dumb' }, terminal)).toBe(false)
})

test('FORCE_COLOR enables colours for a pipe, and 0 disables them for a terminal', () => {
  expect(wantsColor({ FORCE_COLOR: '1' }, pipe)).toBe(true)
  expect(wantsColor({ FORCE_COLOR: '' }, pipe)).toBe(true)
  expect(wantsColor({ FORCE_COLOR: '0' }, terminal)).toBe(false)
})

test('NO_COLOR disables colours even with FORCE_COLOR, and is ignored if empty', () => {
  expect(wantsColor({ NO_COLOR: '1' }, terminal)).toBe(false)
  expect(wantsColor({ NO_COLOR: '1', FORCE_COLOR: '1' }, terminal)).toBe(false)
  expect(wantsColor({ NO_COLOR: '' }, terminal)).toBe(true)
})
