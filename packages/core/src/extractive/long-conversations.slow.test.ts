import { expect, test } from 'vitest'
import type { SummarySource } from '../speech/source.js'
import { summarizeExtractively } from '../summarizing/summarize.js'

test('a summary of ten thousand messages takes linear time', () => {
  const paragraph =
    'We need to keep `loom_id` in src/loom.ts because the tests in test/loom.test.ts failed with error 42. '.repeat(20)
  const many = (count: number) =>
    Array.from({ length: count }, (_, index): SummarySource => {
      const role = index % 2 ? 'assistant' : 'user'
      const other = { reference: '', toolName: null, isError: false, pinned: false, orderedAtMs: 0 }
      return { ...other, role, text: `${index} ${paragraph}` }
    })
  const timeMs = (count: number) => {
    const messages = many(count)
    // Processor time is independent of other load on the machine.
    const before = process.cpuUsage()
    summarizeExtractively({ purpose: 'compaction', messages, previousSummary: null, tokensMax: 2_000 })
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
  timeMs(500)
  expect(timeMs(10_000)).toBeLessThan(40 * Math.max(timeMs(1_000), 50))
}, 60_000)
