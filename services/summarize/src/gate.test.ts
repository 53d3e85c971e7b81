import { defaultSettings, type LossGate } from '@heddle/contracts'
import { countTokens, type SummaryRequest, type SummarySource } from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import { describe, expect, test, vi } from 'vitest'
import { askThroughGate, type GateDeps } from './gate.js'

const signal = new AbortController().signal
const source = (role: SummarySource['role'], text: string, index: number, pinned = false): SummarySource => {
  const reference = `msg-aaaa${String(index).padStart(4, '0')}`
  return { reference, role, text, toolName: null, isError: false, pinned, orderedAtMs: 0 }
}
const messages = [
  source('user', 'Never push to main.', 0),
  ...Array.from({ length: 30 }, (_, index) => source('assistant', `Step ${index} of the work is done now.`, index + 1)),
]

/** A model that answers with some texts in turn, and the requests that it received. */
function scripted(...answers: readonly string[]) {
  const requests: SummaryRequest[] = []
  const summarizer: Summarizer = {
    name: 'scripted',
    async summarize(request) {
      requests.push(request)
      return answers[Math.min(requests.length, answers.length) - 1] ?? ''
    },
  }
  return { summarizer, requests }
}

function through(
  summarizer: Summarizer,
  modes: Partial<LossGate>,
  tokensMax = 200,
  covered = messages,
  more: Partial<GateDeps> = {},
) {
  const warn = vi.fn()
  const request = { purpose: 'compaction', messages: covered, previousSummary: null, tokensMax } as const
  const gate = { ...defaultSettings.lossGate, ...modes }
  const deps = { gate, isInParts: false, sources: async () => covered, log: { warn }, ...more }
  return { text: askThroughGate(summarizer, { request, replacedTokens: 0 }, deps, signal), warn }
}

describe('a summary that lost what a person demanded', () => {
  test('is stored as it is by default, with a count in the log and without its text', async () => {
    const { text, warn } = through(scripted('They worked.').summarizer, {})
    expect(await text).toBe('They worked.')
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      { lost: { constraint: 1 }, summarizer: 'scripted' },
      expect.any(String),
    )
  })

  test('is not looked at where every kind is off', async () => {
    const { text, warn } = through(scripted('They worked.').summarizer, { constraint: 'off', correction: 'off' })
    expect(await text).toBe('They worked.')
    expect(warn).not.toHaveBeenCalled()
  })

  test('of a range in parts is read again only where something is repaired', async () => {
    const sources = vi.fn(async () => messages)
    const of = (modes: Partial<LossGate>) =>
      through(scripted('They worked.').summarizer, modes, 200, messages, { isInParts: true, sources }).text
    expect(await of({})).toBe('They worked.')
    expect(sources).not.toHaveBeenCalled()
    expect(await of({ constraint: 'repair' })).toContain('Never push to main.')
    expect(sources).toHaveBeenCalledOnce()
  })

  test('is repaired within its tokens, for which the model is asked for less', async () => {
    const { summarizer, requests } = scripted('They worked.')
    const { text, warn } = through(summarizer, { constraint: 'repair' })
    expect(await text).toContain('- Never push to main.')
    expect(countTokens(await text)).toBeLessThanOrEqual(200)
    expect(requests.map(({ tokensMax }) => tokensMax)).toEqual([160])
    expect(warn).not.toHaveBeenCalled()
  })

  test('is asked for once more where nothing may be lost, then made without a model', async () => {
    const long = 'They worked on '.repeat(25)
    const again = scripted(long, 'They worked.')
    expect(countTokens(long)).toBeGreaterThan(72)
    expect(await through(again.summarizer, { constraint: 'block' }, 80).text).toContain('Never push to main.')
    expect(again.requests).toHaveLength(2)
    const never = scripted(long)
    const text = await through(never.summarizer, { constraint: 'block' }, 80).text
    expect(never.requests).toHaveLength(2)
    expect(text).toContain('Never push to main.')
    expect(text).not.toContain('They worked on')
  })

  test('never passes without a pinned fact: a model that leaves no tokens for it is replaced', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ')
    const fact = source('user', `Pinned words: ${words}`, 99, true)
    const covered = [...messages, fact]
    const polite = scripted('They worked.')
    expect(await through(polite.summarizer, {}, 400, covered).text).toContain(fact.text)
    expect(polite.requests).toHaveLength(1)
    const greedy = scripted('They worked on '.repeat(133))
    expect(countTokens('They worked on '.repeat(133))).toBeGreaterThan(395)
    const made = await through(greedy.summarizer, { constraint: 'off', correction: 'off' }, 401, covered).text
    expect(greedy.requests.map(({ tokensMax }) => tokensMax)).toEqual([401, 200])
    expect(made).toContain(fact.text)
    expect(made).not.toContain('They worked on')
  })
})
