import { mergeSettings, type PartialSettings } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { simulatedInput } from '../../../../test/support/src/samples/simulated-input.js'
import { SimulatedThread } from '../../../../test/support/src/samples/simulated-thread.js'
import { buildContext } from './build.js'

function built(settings: PartialSettings, format: 'neutral' | 'anthropic' = 'neutral') {
  const thread = new SimulatedThread({})
  thread.arrive(sampleMessage({ seq: 1, content: 'hello' }))
  const docs = [{ name: 'guide', text: 'Read this. '.repeat(50) }]
  return buildContext(
    simulatedInput(thread, {
      format,
      settings: mergeSettings(settings),
      agent: { name: 'coder', version: 1, systemPrompt: 'You write code.', docs },
      thread: { name: 'run', title: null, goal: null, status: 'testing' },
      request: { thread: 'run', message: 'go on' },
    }),
  )
}

const names = (settings: PartialSettings) => built(settings).receipt.sections.map(({ name }) => name)
const firstWords = (settings: PartialSettings) =>
  built(settings).messages.map(({ content }) => String(content).split(/[ \n]/)[0])

test('by default the parts that change at each request are last; with status-first the status is before the history', () => {
  expect(names({})).toEqual(['system-prompt', 'docs', 'history', 'status', 'message'])
  expect(firstWords({})).toEqual(['You', 'Document', 'hello', '[Status', 'go'])
  const settings = { sections: { order: 'status-first' as const } }
  expect(names(settings)).toEqual(['system-prompt', 'docs', 'status', 'history', 'message'])
  expect(firstWords(settings)).toEqual(['You', 'Document', '[Status', 'hello', 'go'])
})

test('no cache mark is set after a status that changes', () => {
  const marks = (settings: PartialSettings) =>
    JSON.stringify(built(settings, 'anthropic').messages).split('cache_control').length - 1
  expect(marks({})).toBe(2)
  expect(marks({ sections: { order: 'status-first' } })).toBe(1)
})

test('a section is cut to its allocation, and the receipt says so', () => {
  const { messages, receipt } = built({ sections: { allocations: { docs: 40 } } })
  expect(messages[1]?.['content']).toMatch(/^Document "guide":\n\nRead this\. .*\n\[… cut to fit\]$/s)
  const docs = receipt.entries.filter(({ section }) => section === 'docs')
  expect(docs).toEqual([
    expect.objectContaining({ mode: 'elided', reason: expect.stringContaining('cut to its 40 tokens') }),
  ])
  expect(docs[0]?.tokens).toBeLessThanOrEqual(40)
})

test('a history takes no more than its allocation, however large the budget is', () => {
  const thread = new SimulatedThread({})
  for (let seq = 1; seq <= 200; seq++) {
    thread.arrive(sampleMessage({ seq, role: seq % 2 ? 'user' : 'assistant', content: 'word '.repeat(40) }))
  }
  const settings = mergeSettings({ sections: { allocations: { history: 3_000 } } })
  const { receipt } = buildContext(simulatedInput(thread, { settings }))
  const history = receipt.sections.find(({ name }) => name === 'history')
  expect(history?.tokens).toBeLessThanOrEqual(3_000)
  expect(receipt.eligible).toBe(200)
})

test('a history whose smallest form exceeds its allocation is kept, and the receipt says so', () => {
  const thread = new SimulatedThread({})
  for (let seq = 1; seq <= 30; seq++)
    thread.arrive(sampleMessage({ seq, role: seq % 2 ? 'user' : 'assistant', content: 'word '.repeat(90) }))
  const settings = mergeSettings({ budget: 4_000, sections: { allocations: { history: 20 } } })
  const { receipt, tokensUsed } = buildContext(simulatedInput(thread, { settings }))
  expect(receipt.notes.join()).toContain('more than the 20 tokens allocated to it')
  expect(receipt.entries.reduce((sum, { count }) => sum + count, 0)).toBe(30)
  expect(tokensUsed).toBeLessThan(2_000)
})
