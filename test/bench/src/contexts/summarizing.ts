import { randomUUID } from 'node:crypto'
import { mergeSettings } from '@heddle/contracts'
import { countTokens, type Lane, laneOf, threadIdOf } from '@heddle/core'
import { insertState, type NewContextState } from '@heddle/store'
import { closeLater } from '@heddle/test-support/closing'
import type { Measured } from '@heddle/test-support/figure'
import { textOf } from '@heddle/test-support/samples/texts'
import { plainSummary, startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { waitFor } from '@heddle/test-support/wait-for'
import type { Bench } from '../bench.js'
import { timed } from '../load/statistics.js'
import { insertMessages } from './long-thread.js'

const TOKENS = 2_000_000
const DEADLINE_MS = 280_000
/**
 * The whole thread is read, so calls grow with it: a leaf has 4,000 to 8,000 tokens, at most 3 calls with a window of 8,000
 * and one that merges their answers; groups of leaves add a seventh of one to each.
 */
const CALLS_MAX = Math.ceil((TOKENS / 4_000) * (3 + 1 + 1 / 7))
const [TOP, BOTTOM] = [5, 5]
const SAMPLE = 1_000

/**
 * One summary of a thread of two million tokens by a model with a window of 8,000, whose provider answers at once: its number
 * of calls, the memory of the worker, and the CPU time.
 */
export async function measureLongSummary(bench: Bench): Promise<Measured[]> {
  const server = await startProtocolServer(plainSummary)
  closeLater(() => server.close())
  const [agent, thread] = [bench.fresh('summarizer'), bench.fresh('endless')]
  // A model that is in no table has a window of 8,000 tokens.
  const settings = { rollingWindow: null, summarizationProvider: 'openai' as const, summarizationModel: 'small' }
  await bench.client.agents.put(agent, { settings })
  const ingest = await bench.startStages('ingest')
  await bench.client.messages.append({ agent, thread, messages: [{ role: 'user', content: textOf(0) }] })
  await ingest.stop()

  const threadId = threadIdOf(bench.projectId, thread)
  // Texts have similar lengths, so a few of them show how many fill the thread.
  const tokensEach = Array.from({ length: SAMPLE }, (_, index) => countTokens(textOf(index))).reduce(
    (sum, tokens) => sum + tokens / SAMPLE,
    0,
  )
  const messages = Math.ceil(TOKENS / tokensEach)
  await insertMessages(bench, threadId, messages)
  const stateId = await insertPending(bench, { threadId, messages, lane: laneOf(mergeSettings(settings)) })
  const workers = await bench.startStagesWith(
    {
      OPENAI_API_KEY: 'key',
      OPENAI_BASE_URL: server.openAiUrl,
    },
    'summarize',
  )
  const tookMs = await timed(async () => {
    await bench.queues.wake('summarize', { projectId: bench.projectId, threadId })
    await waitFor(
      async () => {
        const [state] = await bench.sql`select status from heddle.context_states where id = ${stateId}`
        return state?.['status'] === 'ready'
      },
      { what: 'the summary', timeoutMs: DEADLINE_MS, everyMs: 100 },
    )
  })
  const peakBytes = await workers.peakBytes()
  await workers.stop()
  const largest = Math.max(...server.requests.map(({ system, user }) => system.length + user.length))
  const note = `${messages} messages, ${TOKENS} tokens together; the largest question had ${largest} characters`
  return [
    { name: 'summary.thread2m.calls', value: server.requests.length, unit: 'calls', target: `<= ${CALLS_MAX}`, note },
    { name: 'summary.thread2m.memory', value: peakBytes / 1e6, unit: 'MB', target: '<= 300' },
    { name: 'summary.thread2m.took', value: tookMs, unit: 'ms' },
  ]
}

/** Covers all but the first and the last messages, as after the import of a thread without compactions. */
async function insertPending(
  { sql, store, projectId }: Bench,
  { threadId, messages, lane }: { threadId: string; messages: number; lane: Lane },
): Promise<string> {
  const rows = await sql<{ seq: string; id: string; orderedAt: Date; ordinal: number }[]>`
    select seq, id, ordered_at as "orderedAt", ordinal from heddle.messages
    where thread_id = ${threadId} and (seq <= ${TOP + 1} or seq >= ${messages - BOTTOM})
    order by seq`
  const position = (seq: number) => {
    const row = rows.find((each) => Number(each.seq) === seq)
    if (row === undefined) throw new Error(`message ${seq} is missing`)
    return { orderedAtMs: row.orderedAt.getTime(), ordinal: row.ordinal, id: row.id }
  }
  const id = randomUUID()
  const state: NewContextState = {
    id,
    threadId,
    lane: lane.key,
    strategy: lane.strategy.name,
    clearEpoch: 0,
    generation: 1,
    replaces: null,
    status: 'pending',
    point: position(messages),
    headSeq: messages,
    topIds: rows.slice(0, TOP).map((row) => row.id),
    coveredFrom: position(TOP + 1),
    coveredTo: position(messages - BOTTOM),
    coveredCount: messages - TOP - BOTTOM,
    coveredTokens: TOKENS,
    summary: null,
    summaryTokens: 0,
    summarizer: null,
  }
  const isInserted = await store.inProject(projectId, (tx) => insertState(tx, state))
  if (!isInserted) throw new Error('the compaction could not be put there')
  return id
}
