import type { Client } from '@heddle/client/interface'
import type { ContextRequest } from '@heddle/contracts'
import { v7 } from 'uuid'
import type { Bench } from '../bench.js'
import { conversationOf } from './conversation.js'

export const MESSAGES = 1_000
export const BUDGET = 16_000
export const settings = { budget: BUDGET, rollingWindow: null }
const SETTLE_DEADLINE_MS = 60_000
const NO_OP_DEADLINE_MS = 60_000

/** A thread that every stage has worked through up to its head. */
export async function settledThread(bench: Bench): Promise<string> {
  const [thread = ''] = await settledThreads(bench, 1)
  return thread
}

export async function settledThreads(bench: Bench, count: number): Promise<string[]> {
  const agent = bench.fresh('builder')
  const threads = Array.from({ length: count }, () => bench.fresh('thread'))
  const stages = await bench.startStages('ingest', 'prune', 'summarize', 'embed')
  await bench.client.agents.put(agent, { settings })
  for (const thread of threads) {
    await bench.client.messages.append({ agent, thread, messages: conversationOf(MESSAGES) })
    await bench.client.threads.waitUntilSettled(thread, { deadlineMs: SETTLE_DEADLINE_MS })
  }
  await stages.stop()
  return threads
}

/** From the client's call to its result. */
export function build(client: Client, request: ContextRequest, deadlineMs?: number) {
  return client.contexts.build(
    { budget: BUDGET, ...request, format: 'openai-chat' },
    deadlineMs === undefined ? {} : { deadlineMs },
  )
}

/** An empty job, from adding it to its reply, on the same path as a build. */
export async function noOp({ noOp: queues, projectId }: Bench): Promise<void> {
  const contextId = v7()
  const expected = queues.expectReply({
    requestId: contextId,
    deadlineMs: NO_OP_DEADLINE_MS,
    read: async () => true,
  })
  await queues.add('assemble', { projectId, contextId, replyTo: queues.inbox })
  await expected.result
}
