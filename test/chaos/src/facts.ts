import { extractAll } from '@heddle/core'
import type { HistoryMessage } from '@heddle/store'
import type postgres from 'postgres'

/** The differences between the facts of stored messages, read by the rules, and the stored facts. */
export interface FactDamage {
  readonly expected: number
  readonly lost: number
  /** Facts that no message has, such as those of another reading. */
  readonly surplus: number
}

export const noFactDamage: FactDamage = { expected: 0, lost: 0, surplus: 0 }

export async function assessFacts(
  sql: postgres.Sql,
  threadId: string,
  messages: readonly HistoryMessage[],
): Promise<FactDamage> {
  const expected = new Set(idsIn(threadId, messages))
  const rows = await sql<{ id: string }[]>`select id from heddle.facts where thread_id = ${threadId}`
  const known = rows.filter(({ id }) => expected.has(id)).length
  return { expected: expected.size, lost: expected.size - known, surplus: rows.length - known }
}

export function addFactDamage(left: FactDamage, right: FactDamage): FactDamage {
  return {
    expected: left.expected + right.expected,
    lost: left.lost + right.lost,
    surplus: left.surplus + right.surplus,
  }
}

function idsIn(threadId: string, messages: readonly HistoryMessage[]): string[] {
  const steps = extractAll(threadId, messages)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value.map(({ id }) => id)
}
