import { expect, test } from 'vitest'
import { extractFacts } from './extract.js'

const said = (content: string) => extractFacts({ role: 'user', content })
const lines = (content: string) =>
  said(content).map(
    ({ subject, predicate, object, isNegated }) => `${subject} ${predicate}: ${isNegated ? 'not ' : ''}${object}`,
  )

test.each([
  ['My name is Ada Lovelace.', 'user name: Ada Lovelace'],
  ['I live in Turin, near the river.', 'user lives in: Turin'],
  ['I work at the mill now.', 'user works at: the mill now'],
  ['My favorite editor is Vim.', 'user favorite editor: Vim'],
  ['I prefer wool over linen.', 'user prefers: wool over linen'],
  ["I don't like green threads.", 'user likes: not green threads'],
  ["We've decided to use linen for the warp.", 'user decided: use linen for the warp'],
  ["I've never used a dobby loom.", 'user does: not used a dobby loom'],
  ["I've built a loom with eight shafts.", 'user does: built a loom with eight shafts'],
  ["I'm trying to implement twill in loom.ts, can you help?", 'user does: implement twill in loom'],
  ['The warp tension is now 12 ms on the loom.', 'warp tension duration: 12 ms'],
  ['The test coverage has reached 85%.', 'test coverage percentage: 85%'],
  ['The loom project has a deadline of March 3.', 'loom project deadline date: March 3'],
  ['150 picks woven into the scarf so far.', 'picks woven scarf count: 150'],
])('%s says: %s', (content, fact) => {
  expect(lines(content)).toContain(fact)
})

test.each([
  ['a question', 'Have I ever used a dobby loom?'],
  ['code', '```\nI have never used a loom\n```'],
  ['what a program inserted', '<system-reminder>\nI live in Turin.\n</system-reminder>'],
  ['what was recalled', '<memory ref="msg-1a2b3c4d" note="recalled data">\nI live in Turin.\n</memory>'],
  ['a memory block', '<memory-block label="human">\nI live in Turin.\n</memory-block>'],
  ['the progress of a run', '<progress-summary note="x">\nI live in Turin.\n</progress-summary>'],
  ['a summary that was sent back', '<earlier-conversation note="x">I live in Turin.</earlier-conversation>'],
  ['an unclosed section of a context', 'Hello\n<facts>\nI live in Turin.'],
  ['a condensed result', 'I live in Turin, as in [recall:msg-1a2b3c4d].'],
  ['a secret', 'I use the api_key = "abcdefgh12345678" for the loom.'],
  ['a password that is said', 'My name is Alice and my password is hunter2.'],
  ['a password that is used', 'I am using password hunter2 for the db.'],
  ['a password that was decided on', 'We decided to set the root password to Winter2025!'],
  ['a passphrase', 'My favorite passphrase is correct horse battery.'],
  ['a number of a card', 'My main credit card is 4111 1111 1111 1111.'],
  ['a pin', 'My default pin is 9921.'],
  ['a key of a network', 'My new wifi key is Sommer2024!'],
  ['a token', 'I use ghp_abcdefghijklmnopqrstuvwxyz012345 for the loom.'],
  ['a formula', 'I say that x = 12 ms.'],
])('nothing is read from %s', (_, content) => {
  expect(said(content)).toEqual([])
})

test.each(['assistant', 'tool_result', 'system', 'tool_use'] as const)(
  'nothing is read from a message of the role %s',
  (role) => {
    expect(extractFacts({ role, content: 'I live in Turin.' })).toEqual([])
  },
)

test('facts of texts that no database can hold are whole, and a word without end is no subject', () => {
  const facts = [
    `I live in Tu\0rin \ud83e`,
    `I prefer ${'🧵'.repeat(30)}a${'🧶'.repeat(90)}`,
    'The loom\ud83e tension is 5 ms.',
  ].flatMap(said)
  expect(facts.length).toBeGreaterThanOrEqual(3)
  for (const { subject, object, statement } of facts)
    for (const text of [subject, object, statement]) expect(text.isWellFormed() && !text.includes('\0')).toBe(true)
  const endless = Array.from({ length: 300 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('')
  expect(said(`The ${endless} tension is 5 ms.`).every(({ subject }) => subject.length <= 200)).toBe(true)
})

test('nothing is read from a summary that an agent made of its conversation', () => {
  expect(extractFacts({ role: 'user', content: 'I live in Turin.', keptAside: 'compact-summary' })).toEqual([])
})

test('nothing is read from a message that a restore shows again', () => {
  const restores = { id: 'x', seq: 1, orderedAtMs: 0 }
  expect(extractFacts({ role: 'user', content: 'I live in Turin.', restores })).toEqual([])
})

test('two values of one subject in a sentence replace nothing, and neither do numbers without a unit', () => {
  expect(said('The loom needs exactly 2 red threads in 3 red threads.').every(({ isSingle }) => !isSingle)).toBe(true)
  expect(said('Body paragraph 1').every(({ isSingle }) => !isSingle)).toBe(true)
})

test('a page of figures gives a limited number of facts', () => {
  const rows = Array.from({ length: 500 }, (_, row) => `The shaft lift of row ${row} is ${row} ms.`)
  expect(said(rows.join('\n')).length).toBeLessThanOrEqual(40)
})

test('endless texts of any shape are read in bounded time', () => {
  for (const unit of [
    'I ',
    'I have never ',
    '<memory>',
    '<memory ',
    'my new ',
    'can you ',
    '1 ms ',
    ', and ',
    "I'm trying to ",
  ]) {
    expect(said(unit.repeat(200_000)).length).toBeLessThanOrEqual(40)
  }
})
