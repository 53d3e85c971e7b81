import { createHash } from 'node:crypto'
import { estimateTokens, shortCode } from '@heddle/core'
import { textOf } from '@heddle/test-support/samples/texts'
import type postgres from 'postgres'
import { v7 } from 'uuid'

/** Rows per statement, and concurrent statements, so that no core is idle. */
const ROWS_PER_INSERT = 500
const INSERTS_AT_ONCE = 3

/** Rows of `heddle.messages` as ingest would write them, without the columns that it leaves null. */
export function rowsOf(projectId: string, threads: number, messagesPerThread: number) {
  const atMs = Date.now()
  return Array.from({ length: threads }, () => v7()).flatMap((threadId) =>
    Array.from({ length: messagesPerThread }, (_, index) => {
      const id = v7()
      const content = textOf(index)
      const at = new Date(atMs + index)
      return {
        project_id: projectId,
        thread_id: threadId,
        seq: index + 1,
        id,
        code: shortCode(id),
        role: index % 2 === 0 ? 'user' : 'assistant',
        content,
        ordered_at: at,
        ordinal: index,
        latest_at: at,
        received_at: at,
        tokens_estimate: estimateTokens(content),
        fingerprint: createHash('sha256').update(content).digest().subarray(0, 16),
      }
    }),
  )
}

/** Into the real table, with all its indexes, by multi-row inserts of postgres.js. */
export async function insertRows(sql: postgres.Sql, rows: ReturnType<typeof rowsOf>): Promise<void> {
  let next = 0
  const insertNext = async () => {
    while (next < rows.length) {
      const batch = rows.slice(next, next + ROWS_PER_INSERT)
      next += batch.length
      await sql`insert into heddle.messages ${sql(batch)}`
    }
  }
  await Promise.all(Array.from({ length: INSERTS_AT_ONCE }, insertNext))
}
