import { defaultSettings } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { conversation, decide } from '../../../../test/support/src/samples/pruned-conversation.js'
import { countTokens } from '../tokens/tokens.js'

/** Only the newest message of either side is kept anyway, so that the other ages decide. */
const ages = { ...defaultSettings.prune, keepLastN: 1 }

const reply = (tokens: number) => `Reviewed.${' word'.repeat(tokens - 2)}`

/** The action on the first message, with so many messages after it. */
function actionAt(age: number, add: (talk: ReturnType<typeof conversation>) => void, settings = ages) {
  const talk = conversation()
  add(talk)
  const first = talk.messages.length
  talk.filler(age)
  expect(talk.messages.length - first).toBe(age)
  return decide(talk.messages, { settings }).map(({ action }) => action)
}

test('a reply is condensed from 501 tokens on, with more than five messages after it', () => {
  expect([countTokens(reply(500)), countTokens(reply(501))]).toEqual([500, 501])
  const at = (age: number, tokens: number, settings = ages) =>
    actionAt(age, ({ add }) => add({ role: 'assistant', content: reply(tokens) }), settings)
  expect(at(6, 501)).toEqual(['condense'])
  expect(at(6, 500)).toEqual([])
  expect(at(5, 501)).toEqual([])
  expect(at(5, 501, { ...ages, condenseAfterN: 4 })).toEqual(['condense'])
  expect(at(6, 400, { ...ages, condenseTokensMin: 399 })).toEqual(['condense'])
})

test('a failed result is removed with more than five messages after it, and condensed before', () => {
  const at = (age: number, settings = ages) =>
    actionAt(
      age,
      ({ tool }) =>
        tool('Bash', { command: 'make' }, `Exit code 2\n${'no rule\n'.repeat(50)}`, { result: { isError: true } }),
      settings,
    )
  expect(at(6)).toEqual(['remove', 'remove'])
  expect(at(5)).toEqual(['condense'])
  expect(at(5, { ...ages, removeErrorsAfter: 4 })).toEqual(['remove', 'remove'])
})

test('the newest ten messages are kept, whatever the other ages are', () => {
  const at = (age: number, settings: Partial<typeof ages> = {}) =>
    actionAt(age, ({ tool }) => tool('Bash', { command: 'ls' }, 'a file\n'.repeat(60)), {
      ...defaultSettings.prune,
      condenseAfterN: 0,
      removeErrorsAfter: 0,
      ...settings,
    })
  expect(at(9)).toEqual([])
  expect(at(10)).toEqual(['condense'])
  expect(at(9, { keepLastN: 9 })).toEqual(['condense'])
})
