import { createClient } from '@heddle/client/http'
import { waitFor } from '@heddle/test-support'
import { contentShapes } from '@heddle/test-support/content-shapes/index'
import { expect, test } from 'vitest'
import { startHeldUp } from './held-up.js'

/** The most expensive contents, each in its own way: words without spaces, and characters that are stored escaped. */
const SHAPES = ['chinese', 'nul', 'double-quotes', 'high-surrogates']
const BYTES = 3_000_000
const CHARACTERS_MAX = 1_500_000
/** On a machine that is as fast as those it was measured on; a slower one has {@link jsonMs}. */
const HELD_MS_MAX = 150

test('contents of megabytes block the event loop of "heddle up" no longer than other requests', async () => {
  const up = await startHeldUp()
  const client = createClient({ url: up.url, deadlineMs: 120_000 })
  await client.agents.put('coder', { settings: { rollingWindow: null, budget: 16_000 } })
  const pass = async (thread: string, content: string) => {
    await client.messages.append({ agent: 'coder', thread, messages: [{ role: 'user', content }], deadlineMs: 120_000 })
    await waitFor(
      async () => {
        const { headSeq, cursors } = await client.threads.get(thread)
        return Math.min(cursors.prune, cursors.summarize, cursors.embed) >= headSeq
      },
      { timeoutMs: 120_000 },
    )
    await client.search({ query: 'work', thread })
  }
  // Loading of modules is not the cost of a content.
  await pass('first', 'some words '.repeat(10_000))
  await up.beginHolds()

  // The longest block since the beginning, after each shape.
  const heldMs: Record<string, number> = {}
  for (const shape of SHAPES) {
    await pass(shape, contentShapes[shape]?.(BYTES).slice(0, CHARACTERS_MAX) ?? '')
    heldMs[shape] = await up.longestHoldMs()
  }
  const heldMsMax = Math.max(HELD_MS_MAX, jsonMs())
  expect(Math.max(...Object.values(heldMs)), JSON.stringify({ ...heldMs, heldMsMax })).toBeLessThan(heldMsMax)

  await up.stop()
}, 300_000)

/** Processor time of the JSON of the most expensive content, made and read in one piece: 106 ms where contents block for 41 ms. */
function jsonMs(): number {
  const content = contentShapes['high-surrogates']?.(BYTES).slice(0, CHARACTERS_MAX) ?? ''
  const tries = Array.from({ length: 3 }, () => {
    const begun = process.cpuUsage()
    JSON.parse(JSON.stringify(content))
    const { user, system } = process.cpuUsage(begun)
    return (user + system) / 1_000
  })
  return Math.min(...tries)
}
