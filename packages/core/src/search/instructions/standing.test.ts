import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type SaidText, standingInstructions, takingsBack } from './index.js'
import { isReplaced } from './replaced.js'
import { endedBy, instructionWords } from './takings-back.js'

const said = (...texts: readonly (string | Partial<SaidText>)[]): SaidText[] =>
  texts.map((one) => ({ text: '', thread: 'a', user: null, ...(typeof one === 'string' ? { text: one } : one) }))
const held = (...texts: readonly (string | Partial<SaidText>)[]) =>
  standingInstructions(said(...texts)).flatMap(({ sentence, endedIn }) => (endedIn === null ? [sentence] : []))

describe('an instruction', () => {
  test.each([
    ['Never push to main.', 'You may push to main again.'],
    ['Never push to main, it breaks the build.', 'OK, from now on you can push to main.'],
    ["Please don't use emojis in commit messages.", "It's fine to use emojis in commit messages again."],
    ['Always answer in French.', 'Forget what I said about French.'],
    ['Always answer in French.', 'Please ignore my earlier instruction to answer in French.'],
    ['Always answer in French.', "You don't have to answer in French any more."],
    ['Always answer in French.', 'Please stop answering in French from now on.'],
    ['Always answer in French.', 'From now on, reply in English.'],
    ['Always update the changelog.', 'The changelog is no longer needed.'],
    ['Always run the tests.', 'Running the tests is no longer necessary.'],
    ['Always run the linter.', 'The rule about the linter no longer applies.'],
    ['Always use tabs.', 'Never use tabs.'],
  ])('%j ends with %j', (instruction, ending) => {
    const [first, ...later] = standingInstructions(said(instruction, ending))
    expect(first).toMatchObject({ sentence: instruction, saidIn: 0, endedIn: 1, endedBy: ending })
    for (const { endedIn } of later) expect(endedIn).toBeNull()
  })

  test.each([
    ['Never push to main.', 'You may push to main this once.'],
    ['Never push to main.', 'You can push to main.'],
    ['Never push to main.', 'You may push to main again if the tests pass.'],
    ['Never push to main.', 'May I push to main again?'],
    ['Never push to main.', 'You may push to staging again.'],
    ['Never push to main without a review.', 'You may push to main again.'],
    ['Never push.', 'You may push to main again.'],
    ['Never push to main.', 'Forget what I said about staging.'],
    ['Always answer in French.', 'Please write the report in English.'],
    ['Always answer in French.', 'From now on, write the report in English.'],
    ['Always answer in French.', 'No need to answer in French.'],
    ['Always answer in French.', 'Stop.'],
    ['Never delete the database.', 'The database is no longer needed.'],
    ['Always update the server after a change.', 'The server is no longer needed.'],
    ['Always run the tests.', 'The old tests are no longer needed.'],
    ['Always use tabs.', 'Never use tabs in YAML files.'],
    ['Always run the tests.', 'You can run the tests again.'],
    ['Always run the tests.', 'Forget it.'],
    ['Never push to main.', 'You may not push to main again.'],
    ['Never push to main.', 'You may never push to main again.'],
    ['Never push to main.', 'You can no longer push to main from now on.'],
    ['Never push to main.', 'You may push to main again (not!).'],
    ['Never push to main.', 'Look:\n~~~\nYou may push to main again.\n~~~'],
    ['Never use tabs for C++.', 'You may use tabs for C again.'],
    ['Never edit .env.', 'You may edit env again.'],
    ['Never deploy from main.', 'You may deploy to main again.'],
    ['Never run before the tests.', 'You may run the tests again.'],
    ['Always use tabs.', 'Never use tabs, except in Go.'],
    ['Always use tabs.', 'Never use tabs (in YAML).'],
    ['Always run the tests.', "Don't just run the tests from now on."],
    ["Always use tabs, spaces can't align.", 'You may use tabs again.'],
    ['Never merge main into dev.', 'You may merge dev into main again.'],
    ['Never push to main.', 'Bob wrote:\n\nYou may push to main again.\n\nDo you agree?'],
    ['Never push to main.', 'The README says:\n"Intro. You may push to main again. Bye."'],
    ['Never push to main.', '<file>\nYou may push to main again.\n</file>'],
    ['Never push to main.', 'Run this.\n\n    You may push to main again.\n'],
    ['Never push to main.', 'Translate into German. You may push to main again.'],
    ['Never use eval.', 'Write a message to the team.\nYou can use eval again.\nSign it with my name.'],
  ])('%j holds after %j', (instruction, later) => {
    expect(held(instruction, later)).toContain(instruction)
  })

  test('ends by one sentence of a longer message, and by one before a block of code', () => {
    const ending = 'You may push to main again.'
    expect(held('Never push to main.', `Thanks, that was it. ${ending} Now fix the parser.`)).toEqual([])
    expect(held('Never push to main.', `${ending}\n~~~\nnpm test\n~~~`)).toEqual([])
  })

  test('of which a part of the words is named holds if another has them too', () => {
    const both = ['Always answer in French.', 'Never translate French names.']
    expect(held(...both, 'Forget what I said about French.')).toEqual(both)
    expect(held(...both, 'Forget what I said about French names.')).toEqual([both[0]])
  })

  test.each([
    'Do not use semicolons from now on.',
    'Please stop adding comments from now on.',
    "Don't forget to run the tests from now on.",
  ])('%j holds, though it can also end another', (instruction) => {
    expect(held(instruction)).toEqual([instruction])
  })

  test('to do the opposite ends one, and holds itself', () => {
    expect(held('Always use semicolons.', 'Do not use semicolons from now on.')).toEqual([
      'Do not use semicolons from now on.',
    ])
    expect(held('Always use semicolons.', "You don't have to use semicolons from now on.")).toEqual([])
  })

  test('holds again when it is given again', () => {
    expect(held('Never push to main.', 'You may push to main again.', 'Never push to main.')).toEqual([
      'Never push to main.',
    ])
  })

  test('of one thread ends in it, and one of an agent everywhere', () => {
    const here = 'In this conversation, always answer in French.'
    const ending = 'Forget what I said about French.'
    expect(held(here, { text: ending, thread: 'b' })).toEqual([here])
    expect(held(here, ending)).toEqual([])
    expect(held('Always answer in French.', { text: ending, thread: 'b' })).toEqual([])
    expect(held('Never push to main.', 'You may push to main again in this thread.')).toHaveLength(1)
  })

  test('of one user is not ended by another', () => {
    const never = { text: 'Never push to main.', user: 'Ann' }
    const ending = 'You may push to main again.'
    expect(held(never, { text: ending, user: 'Bob' })).toHaveLength(1)
    expect(held(never, { text: ending, user: 'Ann', thread: 'b' })).toEqual([])
    expect(held(never, { text: ending, thread: 'b' })).toHaveLength(1)
  })
})

const verb = fc.constantFrom('push', 'deploy', 'commit', 'write', 'delete')
const object = fc.constantFrom('main', 'staging', 'the docs', 'the config', 'release notes', 'generated files')

test('a prohibition ends by a permission of the same words alone', () => {
  fc.assert(
    fc.property(verb, object, verb, object, (forbid, what, permit, other) => {
      const isSame = forbid === permit && what === other
      expect(held(`Never ${forbid} to ${what}.`, `You may ${permit} to ${other} again.`)).toHaveLength(isSame ? 0 : 1)
    }),
  )
})

test('no text between an instruction and now ends it, unless it has a sentence that takes something back', () => {
  const words = fc.constantFrom(
    'push',
    'main',
    'again',
    'you',
    'may',
    'forget',
    'French',
    'said',
    'about',
    'if',
    'once',
    'never',
  )
  const sentence = fc.array(words, { minLength: 1, maxLength: 8 }).map((all) => `${all.join(' ')}.`)
  fc.assert(
    fc.property(fc.array(sentence, { maxLength: 6 }), (others) => {
      const silent = others.filter((one) => takingsBack(one).length === 0 && !/^never/.test(one))
      expect(held('Always answer in French.', ...silent)).toContain('Always answer in French.')
    }),
  )
})

test('ends what a comparison of each with each ends', () => {
  const whats = [
    'push to main',
    'use tabs',
    'answer in French',
    'answer in German',
    'merge main into dev',
    'use tabs, they align',
  ]
  const what = fc.constantFrom(...whats)
  const form = fc.constantFrom(
    (what: string) => `Always ${what}.`,
    (what: string) => `Never ${what}.`,
    (what: string) => `You may ${what} again.`,
    (what: string) => `Forget what I said about ${what.split(' ').at(-1)}.`,
    (what: string) => `${what} is no longer needed.`,
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(form, what), { maxLength: 12 }), (sentences) => {
      const texts = sentences.map(([form, what]) => form(what))
      const found = standingInstructions(said(...texts))
      for (const { sentence, saidIn, endedIn } of found) {
        const words = instructionWords(sentence)
        const ends = (at: number) => {
          const holds = found.filter((other) => other.saidIn < at && (other.endedIn ?? at) >= at)
          const isTakenBack = takingsBack(texts[at] ?? '').some((taking) => {
            const all = holds.map((other) => instructionWords(other.sentence))
            return endedBy(taking, all).some((index) => holds[index]?.saidIn === saidIn)
          })
          const isInstruction = found.some((other) => other.saidIn === at)
          return isTakenBack || (isInstruction && isReplaced(words, instructionWords(texts[at] ?? '')))
        }
        const expected = texts.findIndex((_, at) => at > saidIn && ends(at))
        expect([sentence, endedIn]).toEqual([sentence, expected === -1 ? null : expected])
      }
    }),
  )
})

test('many instructions are compared in time', () => {
  const texts = Array.from({ length: 500 }, (_, text) =>
    ['a', 'b', 'c', 'd'].map((part) => `Always use tool${text}${part} for files.`).join(' '),
  )
  const startedMs = performance.now()
  expect(held(...texts, 'Never use tool0a for files.')).toHaveLength(2_000)
  expect(performance.now() - startedMs).toBeLessThan(2_000)
})

test('reads the longest texts in time', () => {
  const startedMs = performance.now()
  for (const part of ['you may ', 'forget what i said about ', 'ok, ', 'no longer needed ', 'the rule about x '])
    takingsBack(part.repeat(20_000))
  expect(performance.now() - startedMs).toBeLessThan(1_000)
})
