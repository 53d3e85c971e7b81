import type { NewMessage } from '@heddle/client/interface'
import type { PrunedCounts } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { loadEventsAfter } from '@heddle/store'
import { describe, expect, test } from 'vitest'
import { pipelineOfTests, queueBackends } from '../support.js'

const SETTINGS = { rollingWindow: null, budget: 10_000, prune: { keepLastN: 2 } }
const SETTLE_MS_MAX = 20_000

/** Views of long files: once they are old, pruning alone makes the context small. */
function views(count: number): NewMessage[] {
  return Array.from({ length: count }, (_, index) => [
    {
      role: 'assistant' as const,
      content: '',
      toolCalls: [{ id: `c${index}`, name: 'Read', arguments: { file_path: `/src/file${index}.ts` } }],
    },
    { role: 'tool_result' as const, toolCallId: `c${index}`, toolName: 'Read', content: 'const one = 1\n'.repeat(200) },
  ]).flat()
}

describe.each(queueBackends())('compactions on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('in a pipeline', () => {
    const held = pipelineOfTests(mode)

    async function compacted(thread: string, messages: NewMessage[]) {
      const { client, store, projectId } = held.pipeline
      const counts: PrunedCounts[] = []
      await held.start(['ingest', 'prune', 'summarize'], { onPruned: (pruned) => counts.push(pruned) })
      await client.agents.put(thread, { settings: SETTINGS })
      await client.messages.append({ agent: thread, thread, messages })
      const threadId = threadIdOf(projectId, thread)
      const published = async () => {
        const events = await store.inProject(projectId, (tx) =>
          loadEventsAfter(tx, { projectId, number: 0, limit: 500 }),
        )
        return events.filter((event) => event.topic === 'thread.compacted' && event.threadId === threadId)
      }
      const overview = () => client.threads.get(thread)
      await expect
        .poll(
          async () => {
            const { headSeq, cursors, states } = await overview()
            const ready = states.filter(({ status }) => status === 'ready')
            return (
              cursors.prune === headSeq && cursors.summarize === headSeq && (await published()).length >= ready.length
            )
          },
          { timeout: SETTLE_MS_MAX },
        )
        .toBe(true)
      const { states, prunings } = await overview()
      return { counts, states, prunings, stateIds: (await published()).map(({ subjectId }) => subjectId) }
    }

    test('that need no summary are published, and counted with what they condensed', async () => {
      const { counts, states, prunings, stateIds } = await compacted('pruned alone', views(8))
      expect(states.map(({ status, coveredCount }) => ({ status, coveredCount }))).toEqual([
        { status: 'ready', coveredCount: 0 },
      ])
      expect(stateIds).toEqual(states.map(({ id }) => id))
      expect(counts).toEqual([
        { compactions: 1, condensed: prunings.condense, stubbed: 0, removed: 0, tokensSaved: expect.any(Number) },
      ])
      expect(counts[0]?.condensed).toBeGreaterThan(3)
      expect(counts[0]?.tokensSaved).toBeGreaterThan(3_000)
    })

    test('that need a summary are published once, with it', async () => {
      const talk = Array.from({ length: 160 }, (_, index): NewMessage => {
        const role = index % 2 === 0 ? 'user' : 'assistant'
        return { role, content: `Step ${index}: we decided on part ${index}. ${'talk '.repeat(50)}` }
      })
      const { counts, states, stateIds } = await compacted('summarized', talk)
      const ready = states.filter(({ status }) => status === 'ready').map(({ id }) => id)
      expect(ready.length).toBeGreaterThan(0)
      expect([...stateIds].sort()).toEqual([...ready].sort())
      expect(counts.reduce((sum, { compactions }) => sum + compactions, 0)).toBe(states.length)
    })
  })
})
