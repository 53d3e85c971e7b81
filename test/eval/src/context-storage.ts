import { randomUUID } from 'node:crypto'
import type { MessageInput } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { openPipeline } from './pipeline.js'
import { readSessions } from './sessions.js'
import { contextBytes } from './storage.js'

const TURNS = 1_000
const THREAD = 'long'

/**
 * The size of stored contexts on disk, with their indexes, beside the messages of their thread: one thread of all
 * recorded sessions, with a context before each of its answers.
 */
export async function measureContextStorage(dataDir: string): Promise<Measured[]> {
  const turns = turnsOf((await readSessions(dataDir)).flatMap(({ messages }) => messages))
  const { clientWith, sql } = await openPipeline({})
  const client = clientWith({})
  const before = await contextBytes(sql)
  let rawBytes = 0
  for (let turn = 0; turn < TURNS; turn++) {
    const messages = (turns[turn % turns.length] ?? []).map((message) => ({ ...message, id: randomUUID() }))
    rawBytes += messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0)
    await client.messages.append({ agent: 'coder', thread: THREAD, messages, newAgentRollingWindow: null })
    await client.contexts.build({ thread: THREAD, format: 'anthropic' })
  }
  const fresh = (await contextBytes(sql)) - before
  // As after the retention of delivered bytes: older contexts are rebuilt when they are requested.
  await sql`delete from heddle.context_deliveries`
  const kept = (await contextBytes(sql)) - before
  return [
    {
      name: 'contexts.storage',
      value: kept,
      ceiling: rawBytes,
      unit: 'bytes',
      target: '<= 3',
      note: `${TURNS} turns with a context each; ${(fresh / rawBytes).toFixed(2)} times the messages while the delivered bytes of all are kept`,
    },
  ]
}

/** Messages up to the next answer, without their ids and times, since the same ones may recur. */
function turnsOf(messages: readonly MessageInput[]): Omit<MessageInput, 'id'>[][] {
  const turns: Omit<MessageInput, 'id'>[][] = []
  let turn: Omit<MessageInput, 'id'>[] = []
  for (const { id: _, sentAt: __, sourceId: ___, ...message } of messages) {
    if (message.role === 'assistant' && turn.length > 0) {
      turns.push(turn)
      turn = []
    }
    turn.push(message)
  }
  return turns
}
