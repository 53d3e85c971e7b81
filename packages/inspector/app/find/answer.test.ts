import type { ReceiptEntry } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { answerOf, type Found } from './answer.js'

const found = (mode: ReceiptEntry['mode'] | undefined, text: string): Found => ({
  statement: { messageId: text, reference: 'msg-1', seq: 1, thread: 'run', kind: 'user', at: '2026-11-27', text },
  line: mode === undefined ? undefined : { section: 'history', mode, count: 1, tokens: 5, reason: 'recent' },
})

test('messages behind a summary without their figures are a no, which names these', () => {
  const all = [found('covered', 'The port is 8432.'), found(undefined, 'Use the port 8432.')]
  expect(answerOf(all, 'The summary.', ['port'])).toEqual({
    verdict: 'No',
    text: 'Of 2 messages with these words, 1 is behind a summary and 1 is not in it. Nowhere in it: 8432.',
  })
})

test('messages that are all verbatim are a yes, and others in part', () => {
  const port = found('raw', 'The port is 8432.')
  expect(answerOf([port], 'The port is 8432.', ['port']).verdict).toBe('Yes')
  expect(answerOf([port, found('stub', 'Another port.')], 'The port is 8432.', ['port'])).toEqual({
    verdict: 'In part',
    text: 'Of 2 messages with these words, 1 is in this context verbatim and 1 is in a shorter form.',
  })
})

test('a summary with the figures of what it covers is an answer in part', () => {
  expect(answerOf([found('covered', 'The port is 8432.')], 'Port 8432.', ['port'])).toEqual({
    verdict: 'In part',
    text: 'Of 1 message with these words, 1 is behind a summary. Figures, paths and names of what is not verbatim are in it all the same.',
  })
})

test('messages that only mean the same do not count beside those with the words', () => {
  const meant = found('raw', 'Postgres answers.')
  expect(answerOf([meant, found('covered', 'The port is 8432.')], '', ['port']).verdict).toBe('No')
  expect(answerOf([meant], '', ['port']).text).toBe('Of 1 message of a similar meaning, 1 is in this context verbatim.')
})
