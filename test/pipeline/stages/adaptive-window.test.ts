import type { Client, NewIteration } from '@heddle/client/interface'
import { beforeEach, describe, expect, test } from 'vitest'
import { pipelineOfTests, queueBackends } from '../support.js'

const AGENT = 'runner'
const THREAD = 'nightly'

function iterations(from: number, to: number): NewIteration[] {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const number = from + index
    const step = `Step ${number} of the login is in src/step${number}.ts. `
    return {
      id: `018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`,
      prompt: 'go on',
      output: step.repeat(8),
    }
  })
}

describe.each(queueBackends())('a run on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('whose window adapts', () => {
    const tests = pipelineOfTests(mode)
    beforeEach(() => tests.start())

    async function runOf(project: string): Promise<Client> {
      const client = tests.pipeline.clientOf(project)
      await client.agents.put(AGENT, { settings: { strategy: 'iterations', iterations: { window: 'adaptive' } } })
      await client.threads.put(THREAD, { agent: AGENT, goal: 'Make the login work' })
      return client
    }
    async function grow(client: Client, from: number, to: number): Promise<void> {
      await client.iterations.append({ agent: AGENT, thread: THREAD, iterations: iterations(from, to) })
      await client.threads.waitUntilSettled(THREAD)
    }
    async function shownIn(client: Client, budget: number, window?: 'fixed') {
      const given = window === undefined ? {} : { iterations: { window } }
      const { messages, tokensUsed, receipt } = await client.contexts.build({ thread: THREAD, budget, ...given })
      const covered = receipt.entries.find(({ mode }) => mode === 'covered')?.toIteration ?? 0
      const raw = receipt.entries.filter(
        ({ section, iterations }) => section === 'recent-iterations' && iterations === 1,
      )
      expect(tokensUsed).toBeLessThanOrEqual(budget)
      return { text: String(messages.at(-1)?.['content']), covered, raw, receipt, tokensUsed }
    }

    test('shows the widest window that a stored summary leaves and the budget bears, and keeps it while the run grows', async () => {
      const client = await runOf('adaptive')
      for (const [from, to] of [
        [1, 10],
        [11, 20],
        [21, 27],
      ] as const)
        await grow(client, from, to)

      const whole = await shownIn(client, 20_000)
      expect(whole).toMatchObject({ covered: 0, receipt: { stateId: null } })
      expect(whole.raw).toHaveLength(27)
      expect(whole.raw[0]?.reason).toBe('recent; the window adapts to the budget and shows 27 whole')

      const budget = whole.tokensUsed - 1
      const some = await shownIn(client, budget)
      expect(some.covered).toBe(5)
      expect(some.raw.map(({ fromIteration }) => fromIteration)).toEqual(Array.from({ length: 22 }, (_, at) => at + 6))
      expect(some.text).toContain('# Progress Summary (iterations 1-5)\n')
      expect((await shownIn(client, some.tokensUsed - 1)).covered).toBe(15)
      const fixed = await shownIn(client, budget, 'fixed')
      expect(fixed).toMatchObject({ covered: 22 })
      expect(fixed.raw).toHaveLength(3)
      expect(some.receipt.stateId).not.toBe(fixed.receipt.stateId)

      await grow(client, 28, 28)
      const later = await shownIn(client, budget)
      const prefix = some.text.slice(0, some.text.indexOf('\n\n# Current State'))
      expect(later.text.startsWith(prefix)).toBe(true)
      expect((await client.iterations.loop(THREAD)).summary).toMatchObject({ coveredTo: 23 })
    })

    test('has its fixed size in a budget that holds no window whole, and says so', async () => {
      const client = await runOf('small')
      await grow(client, 1, 12)
      const { receipt, raw } = await shownIn(client, 420)
      expect(receipt.notes).toContain('no window of whole iterations fits the budget: the window has its fixed size')
      expect(raw.length).toBeGreaterThan(0)
    })
  })
})
