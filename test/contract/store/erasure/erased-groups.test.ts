import { randomUUID } from 'node:crypto'
import { beginMessageErasure, type MessageRange, type Tx } from '@heddle/store'
import { chances, wholeNumber } from '@heddle/test-support/samples/chances'
import { describe, expect, it } from 'vitest'
import { append, appendOne, PROJECT, prepared, storeOfTests } from '../support.js'

const database = storeOfTests()

class RolledBack extends Error {}

/** The messages that an erasure would erase, and how many rows it would read for that. */
async function tryErasure(threadId: string, range: MessageRange) {
  let seqs: number[] = []
  let read = 0
  const trying = database.store.inProject(PROJECT, async (tx) => {
    await beginMessageErasure(tx, { erasureId: randomUUID(), threadId, range })
    const rows = await tx<{ seq: number }[]>`
      select seq from heddle.message_erasures where thread_id = ${threadId} order by seq`
    seqs = rows.map(({ seq }) => seq)
    read = await rowsRead(tx)
    throw new RolledBack()
  })
  await expect(trying).rejects.toThrow(RolledBack)
  return { seqs, read }
}

/** By the statements of this transaction, from all partitions of the messages. */
async function rowsRead(tx: Tx): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as count
    from pg_stat_xact_user_tables where schemaname = 'heddle' and relname ~ '^messages'`
  return row?.count ?? 0
}

interface Said {
  readonly calls: readonly string[]
  readonly resultOf: string | null
}

/** The groups by their definition, one message after another. */
function groupsOf(thread: readonly Said[], from: number, to: number): number[] {
  const wanted = new Set(Array.from({ length: to - from + 1 }, (_, index) => from + index))
  for (const seq of [...wanted]) {
    const { resultOf } = thread[seq - 1] ?? { resultOf: null }
    if (resultOf === null) continue
    const caller = thread.slice(0, seq - 1).findLastIndex(({ calls }) => calls.includes(resultOf))
    if (caller >= 0) wanted.add(caller + 1)
  }
  for (const seq of [...wanted]) {
    const open = new Set(thread[seq - 1]?.calls)
    for (const [index, { calls, resultOf }] of thread.entries()) {
      if (index < seq) continue
      for (const id of calls) open.delete(id)
      if (resultOf !== null && open.delete(resultOf)) wanted.add(index + 1)
    }
  }
  return [...wanted].sort((left, right) => left - right)
}

async function storedThread(thread: string, said: readonly Said[]): Promise<string> {
  const messages = said.map(({ calls, resultOf }, ordinal) => ({
    ...prepared(
      resultOf !== null
        ? { role: 'tool_result', content: 'done', toolCallId: resultOf }
        : { role: 'assistant', content: 'go', toolCalls: calls.map((id) => ({ id, name: 'Read', arguments: {} })) },
    ),
    ordinal,
  }))
  return (await appendOne(database.store, append(messages, { agent: 'grouped', thread }))).threadId
}

describe('the messages of an erasure', () => {
  it('are those of the range with the calls and results that belong to them, whatever ids the calls have', async () => {
    const chance = chances(22)
    const said = Array.from({ length: 300 }, (): Said => {
      const id = () => `call-${wholeNumber(chance, 0, 12)}`
      if (chance() < 0.5) return { calls: [], resultOf: id() }
      return { calls: [...new Set(Array.from({ length: wholeNumber(chance, 0, 3) }, id))], resultOf: null }
    })
    const threadId = await storedThread('random calls', said)
    for (let round = 0; round < 40; round++) {
      const from = wholeNumber(chance, 1, 300)
      const to = Math.min(300, from + wholeNumber(chance, 0, 30))
      const { seqs } = await tryErasure(threadId, { fromSeq: from, toSeq: to })
      expect(seqs, `${from} to ${to}`).toEqual(groupsOf(said, from, to))
    }
  })

  it('are found by reading the thread around them once, also where thousands of calls have no result', async () => {
    const said = Array.from({ length: 5_000 }, (_, index): Said => ({ calls: [`call-${index}`], resultOf: null }))
    const threadId = await storedThread('calls without results', said)
    const { seqs, read } = await tryErasure(threadId, { fromSeq: 1_001, toSeq: 3_000 })
    expect(seqs).toHaveLength(2_000)
    // Each is also read as itself a few times: by its number, and when its row is replaced.
    expect(read).toBeLessThan(20 * said.length)
  })
})
