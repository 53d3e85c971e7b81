import { agentIdOf, threadIdOf } from '@heddle/core'
import { beginErasure, continueErasure, type Store, type Tx } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import postgres from 'postgres'
import { append, appendOne, PROJECT, prepared, type TestStore } from '../support.js'

export interface TestThread {
  readonly agent: string
  readonly thread: string
  readonly agentId: string
  readonly threadId: string
  readonly messageIds: readonly string[]
}

let names = 0

export async function freshThread(store: Store, length = 3, agent = `erased ${++names}`): Promise<TestThread> {
  const thread = `thread ${++names}`
  const messages = Array.from({ length }, (_, index) => prepared({ content: `${thread} ${index}` }))
  await appendOne(store, append(messages, { agent, thread }))
  return {
    agent,
    thread,
    agentId: agentIdOf(PROJECT, agent),
    threadId: threadIdOf(PROJECT, thread),
    messageIds: messages.map(({ input }) => input.id),
  }
}

export const threadTarget = ({ threadId }: Pick<TestThread, 'threadId'>) =>
  ({ projectId: PROJECT, kind: 'thread', targetId: threadId }) as const
export const agentTarget = ({ agentId }: Pick<TestThread, 'agentId'>) =>
  ({ projectId: PROJECT, kind: 'agent', targetId: agentId }) as const

export async function erase(
  store: Store,
  target: Parameters<typeof continueErasure>[1] & Parameters<typeof beginErasure>[1],
): Promise<void> {
  await store.inProject(target.projectId, (tx) => beginErasure(tx, target))
  await continueErasure(store, target)
}

/** Bypasses row-level security, unlike all other code. */
export async function asOwner<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

/** Every table with a column of this name, with the number of its rows that hold the value there. Tombstones stay. */
export async function rowsBy(url: string, column: string, value: string): Promise<Record<string, number>> {
  return await asOwner(url, async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.columns
      where table_schema = 'heddle' and column_name = ${column} and table_name <> 'tombstones'
      order by 1`
    const counts: Record<string, number> = {}
    for (const { name } of tables) {
      const [row] =
        await sql`select count(*)::integer as count from heddle.${sql(name)} where ${sql(column)} = ${value}`
      counts[name] = row?.['count']
    }
    return counts
  })
}

export const nothing = (counts: Record<string, number>) =>
  Object.fromEntries(Object.keys(counts).map((table) => [table, 0]))

/** Resolves once this many transactions on this database wait for another one. */
export async function whenBlocked({ url }: TestStore, count = 1): Promise<void> {
  await asOwner(url, (sql) =>
    waitFor(
      async () => {
        const [row] = await sql`
          select count(distinct lock.pid)::integer as waiting
          from pg_locks as lock join pg_stat_activity as activity using (pid)
          where not lock.granted and activity.datname = current_database()`
        return row?.['waiting'] >= count
      },
      { what: `${count} transactions to wait` },
    ),
  )
}

/** A transaction that does its work and then waits for a signal. */
export async function heldTransaction(
  store: Store,
  work: (tx: Tx) => Promise<unknown>,
): Promise<{ commit(): Promise<void> }> {
  let letGo = () => {}
  const released = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let done: Promise<unknown> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    done = store.inProject(PROJECT, async (tx) => {
      await work(tx)
      resolve()
      await released
    })
    done.catch(reject)
  })
  return {
    async commit() {
      letGo()
      await done
    },
  }
}
