import { randomUUID } from 'node:crypto'
import { stages } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { prune } from '@heddle/prune'
import type { Measured } from '@heddle/test-support/figure'
import { textOf } from '@heddle/test-support/samples/texts'
import type { Bench } from '../bench.js'
import { timed } from '../load/statistics.js'

const MESSAGES = 10_000
const APPEND_DEADLINE_MS = 60_000
/** Limit of jobs for one thread; each continues where the one before it ended. */
const JOBS_MAX = 20

/** All compactions of a long unprocessed thread: counting, deciding, archiving and storing. */
export async function measurePruning(bench: Bench): Promise<Measured[]> {
  const ingest = await bench.startStages('ingest')
  const [agent, thread] = [bench.fresh('pruner'), bench.fresh('long')]
  await bench.client.agents.put(agent, { settings: { rollingWindow: null } })
  await bench.client.messages.append({ agent, thread, messages: editingAgent(), deadlineMs: APPEND_DEADLINE_MS })
  await ingest.stop()

  const { store, projectId } = bench
  const payload = { projectId, threadId: threadIdOf(projectId, thread) }
  const { signal } = new AbortController()
  const job = { payload, jobId: randomUUID(), attempt: 1, attemptsMax: stages.prune.attempts, signal }
  let jobs = 0
  const startedCpu = process.cpuUsage()
  const tookMs = await timed(async () => {
    for (let isDone = false; !isDone && jobs < JOBS_MAX; jobs++) {
      const outcome = await prune(job, { store, settings: {} })
      isDone = !('next' in outcome) || !outcome.next.some(({ wake }) => wake === 'prune')
    }
  })
  const cpu = process.cpuUsage(startedCpu)
  const cpuMs = Math.round((cpu.user + cpu.system) / 1_000)
  const { states } = await bench.client.threads.get(thread)
  return [
    {
      name: 'prune.thread10k',
      value: tookMs,
      unit: 'ms',
      target: '<= 2000',
      note: `${states.length} compactions in ${jobs} jobs, default settings, ${cpuMs} ms of them on a processor of its own process, store of ${bench.servers.backend}`,
    },
  ]
}

/** An agent that views a file and edits it, over and over. */
function editingAgent() {
  return Array.from({ length: MESSAGES / 4 }, (_, turn) => {
    const input = { file_path: `/repo/src/part${turn % 50}.ts` }
    const call = (id: string, name: string) => [
      { role: 'assistant' as const, content: '', toolCalls: [{ id, name, arguments: input }] },
      { role: 'tool_result' as const, toolCallId: id, content: textOf(turn) },
    ]
    return [...call(`view-${turn}`, 'Read'), ...call(`edit-${turn}`, 'Edit')]
  }).flat()
}
