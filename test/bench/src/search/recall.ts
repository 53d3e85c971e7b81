import { threadIdOf } from '@heddle/core'
import { archiveEntries } from '@heddle/store'
import type { Measured } from '@heddle/test-support/figure'
import { textOf } from '@heddle/test-support/samples/texts'
import { v7 } from 'uuid'
import type { Bench } from '../bench.js'
import { median, timed } from '../load/statistics.js'

/** About a megabyte: a long log, or a generated file. */
const RESULT_LINES = 16_000
const LINE_CHARACTERS = 64
const RECALLS = 200
const WARM_UP_RECALLS = 40
const MS_MAX = 5

/**
 * 50 lines from the middle of an archived result of a megabyte, without any queue, beside one select of its row
 * by its key. A recall also finds the thread, the message and the entry, decompresses the content and counts tokens.
 */
export async function measureRecall(bench: Bench): Promise<Measured[]> {
  const stages = await bench.startStages('ingest')
  const [agent, thread, id] = [bench.fresh('reader'), bench.fresh('recall'), v7()]
  await bench.client.messages.append({
    agent,
    thread,
    messages: [
      { role: 'assistant', content: '', toolCalls: [{ id: 'call', name: 'Bash', arguments: { command: 'npm test' } }] },
      { id, role: 'tool_result', toolCallId: 'call', content: 'stands in the archive' },
    ],
  })
  await stages.stop()
  await archive(bench, { thread, messageId: id })
  const [hit] = (await bench.client.archive.list({ thread })).items
  if (!hit) throw new Error('nothing was archived')
  const [stored] = await bench.sql<{ hash: Uint8Array }[]>`
    select content_hash as hash from heddle.archive where thread_id = ${threadIdOf(bench.projectId, thread)}`
  const hash = stored?.hash ?? new Uint8Array()

  const [recallMs, selectMs]: [number[], number[]] = [[], []]
  for (let round = 0; round < WARM_UP_RECALLS + RECALLS; round++) {
    const recalled = await timed(() => bench.client.recall({ ref: hit.ref, lines: '8000-8049' }))
    const selected = await timed(
      () => bench.sql`
        select content from heddle.archive_contents where project_id = ${bench.projectId} and hash = ${hash}`,
    )
    if (round < WARM_UP_RECALLS) continue
    recallMs.push(recalled)
    selectMs.push(selected)
  }
  const [value, ceiling] = [median(recallMs), median(selectMs)]
  return [
    {
      name: 'recall.range',
      value,
      unit: 'ms',
      ceiling,
      note: `p50 of ${RECALLS}, 50 lines of 1 MB beside a select of its row, wanted within ${MS_MAX} ms; store of ${bench.servers.backend}`,
    },
  ]
}

async function archive(bench: Bench, { thread, messageId }: { thread: string; messageId: string }): Promise<void> {
  const content = Array.from({ length: RESULT_LINES }, (_, line) => textOf(line, LINE_CHARACTERS)).join('\n')
  await bench.store.inProject(bench.projectId, (tx) =>
    archiveEntries(tx, [
      {
        threadId: threadIdOf(bench.projectId, thread),
        messageId,
        contentType: 'bash',
        summary: 'a long log',
        content,
        filePaths: [],
        toolName: 'Bash',
        tokenCount: 1,
        originalCreatedAtMs: Date.now(),
      },
    ]),
  )
}
