import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conversations } from '../../../../test/support/src/samples/conversations.js'
import type { Message } from '../conversation/message.js'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { summarizePart } from './kept-summaries.js'
import { leafRequest } from './requests.js'

const reference = (message: Message) => `msg-${message.code}`
const requestOf = (messages: readonly Message[], leafTokens: number) =>
  leafRequest(messages, { leafTokens, fanOut: 4 }, { reference })

test('the summary of a part is the one of the summarizer, however often and in whatever order parts are requested', () => {
  fc.assert(
    fc.property(
      fc.array(conversations(), { maxLength: 2 }),
      fc.integer({ min: 400, max: 4_000 }),
      (talks, leafTokens) => {
        const requests = talks.map((messages) => requestOf(messages, leafTokens))
        for (const request of [...requests, ...requests.toReversed()])
          expect(summarizePart(request)).toBe(summarizeExtractively(request))
      },
    ),
    { numRuns: 10 },
  )
})

test('parts that differ in one field of one message have summaries of their own', () => {
  fc.assert(
    fc.property(conversations(), (messages) => {
      const [first, ...others] = messages
      if (first === undefined) return
      const changed = [
        { ...first, content: `The deadline is on Friday. ${first.content}`, pinned: !first.pinned },
        ...others,
      ]
      summarizePart(requestOf(messages, 800))
      const request = requestOf(changed, 800)
      expect(summarizePart(request)).toBe(summarizeExtractively(request))
    }),
    { numRuns: 10 },
  )
})
