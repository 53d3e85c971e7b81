import type { Measured } from '@heddle/test-support/figure'
import { textOf } from '@heddle/test-support/texts'
import type { Bench } from './bench.js'
import { median, timed } from './statistics.js'

const TURNS = 60
const RESULT_LINES = 120
const RECALLS = 200
const WARM_UP_RECALLS = 20
const SETTLE_DEADLINE_MS = 60_000

/** Lines 10 to 50 of a tool's result that was condensed: out of the archive, without any queue. */
export async function measureRecall(bench: Bench): Promise<Measured[]> {
  const stages = await bench.startStages('ingest', 'prune', 'summarize', 'embed', 'assemble')
  const [agent, thread] = [bench.fresh('reader'), bench.fresh('recall')]
  await bench.client.agents.put(agent, { settings: { budget: 40_000, rollingWindow: null } })
  await bench.client.messages.append({ agent, thread, messages: readingAgent() })
  await bench.client.threads.waitUntilSettled(thread, { deadlineMs: SETTLE_DEADLINE_MS })
  const { receipt } = await bench.client.contexts.build({ thread })
  const reference = receipt.entries.find((entry) => entry.mode === 'condensed')?.reference
  if (reference === undefined) throw new Error('nothing was condensed')
  const tookMs: number[] = []
  for (let recall = 0; recall < WARM_UP_RECALLS + RECALLS; recall++) {
    const ms = await timed(() => bench.client.recall({ ref: reference, thread, lines: '10-50' }))
    if (recall >= WARM_UP_RECALLS) tookMs.push(ms)
  }
  await stages.stop()
  return [
    {
      name: 'recall.range',
      value: median(tookMs),
      unit: 'ms',
      note: `p50 of ${RECALLS}, store of ${bench.servers.backend}`,
    },
  ]
}

function readingAgent() {
  return Array.from({ length: TURNS }, (_, turn) => {
    const id = `call-${turn}`
    const path = `/repo/src/part${turn}.ts`
    return [
      { role: 'assistant' as const, content: '', toolCalls: [{ id, name: 'Read', arguments: { file_path: path } }] },
      {
        role: 'tool_result' as const,
        toolCallId: id,
        content: Array.from({ length: RESULT_LINES }, (_, line) => textOf(turn * RESULT_LINES + line, 60)).join('\n'),
      },
    ]
  }).flat()
}
