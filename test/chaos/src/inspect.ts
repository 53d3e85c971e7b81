import { setTimeout as wait } from 'node:timers/promises'
import { comparePositions, projectIdOf, threadIdOf } from '@heddle/core'
import { type HistoryMessage, listMessages, loadThread, openStore, type Store } from '@heddle/store'
import postgres from 'postgres'
import { addFactDamage, assessFacts, type FactDamage, noFactDamage } from './facts.js'
import { addDamage, assess, type Damage, type Ledger, noDamage } from './ledger.js'
import { PROJECT } from './place.js'
import { contentHash } from './production.js'

const POLL_EVERY_MS = 250
const TELL_EVERY_SECONDS = 20

/** Waits until every stage has reached the head of every thread. @returns the seconds since `sinceMs`, also after a timeout */
export async function waitUntilDrained(
  databaseUrl: string,
  { sinceMs, secondsMax, say }: { sinceMs: number; secondsMax: number; say: (line: string) => void },
): Promise<number> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const seconds = () => (performance.now() - sinceMs) / 1_000
  try {
    for (let toldSeconds = Number.NEGATIVE_INFINITY; ; ) {
      // The last fault may be an outage of this server.
      if ((await isBehind(sql).catch(() => true)) === false) return seconds()
      if (seconds() > secondsMax) {
        say(`not drained: ${JSON.stringify(await findBehind(sql).catch(String))}`)
        return seconds()
      }
      if (seconds() - toldSeconds >= TELL_EVERY_SECONDS) {
        toldSeconds = seconds()
        say(`${toldSeconds.toFixed(0)} s after the last fault: ${JSON.stringify(await findBehind(sql).catch(String))}`)
      }
      await wait(POLL_EVERY_MS)
    }
  } finally {
    await sql.end()
  }
}

async function isBehind(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<{ isBehind: boolean }[]>`
    select exists (select from heddle.stage_cursors where least(prune_seq, summarize_seq, embed_seq, remember_seq) < head_seq)
      or exists (select from heddle.context_states where status = 'pending') as "isBehind"`
  return row?.isBehind !== false
}

/** The remaining work at the end of a run, for finding out the cause. */
async function findBehind(sql: postgres.Sql): Promise<unknown> {
  const [row] = await sql`
    select
      (select count(*)::int from heddle.stage_cursors where prune_seq < head_seq) as "threadsToPrune",
      (select count(*)::int from heddle.stage_cursors where summarize_seq < head_seq) as "threadsToSummarize",
      (select count(*)::int from heddle.stage_cursors where embed_seq < head_seq) as "threadsToEmbed",
      (select count(*)::int from heddle.stage_cursors where remember_seq < head_seq) as "threadsToRemember",
      (select count(*)::int from heddle.context_states where status = 'pending') as "contextsToBuild",
      (select jsonb_agg(to_jsonb(letters) - 'payload') from heddle.dead_letters as letters) as "deadLetters"`
  return row
}

/** Reads everything back, as a client would, and compares it with the ledger. */
export async function inspect(databaseUrl: string, ledger: Ledger): Promise<{ damage: Damage; facts: FactDamage }> {
  const store = openStore({ url: databaseUrl })
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  let [damage, facts] = [noDamage, noFactDamage]
  try {
    for (const [thread, entries] of ledger.threads()) {
      const { threadId, messages, headSeq } = await readThread(store, thread)
      const conversation = messages
        .toSorted(comparePositions)
        .map(({ id, seq, content }) => ({ id, seq, sha256: contentHash(content) }))
      damage = addDamage(damage, assess(entries, conversation, headSeq))
      facts = addFactDamage(facts, await assessFacts(sql, threadId, messages))
    }
    return { damage, facts }
  } finally {
    await sql.end()
    await store.close()
  }
}

const PAGE_MESSAGES = 1_000

async function readThread(
  store: Store,
  name: string,
): Promise<{ threadId: string; messages: HistoryMessage[]; headSeq: number }> {
  const projectId = projectIdOf(PROJECT)
  const threadId = threadIdOf(projectId, name)
  return await store.inProject(projectId, async (tx) => {
    const thread = await loadThread(tx, { threadId })
    const messages: HistoryMessage[] = []
    for (let afterSeq = 0; ; ) {
      const page = await listMessages(tx, { threadId, afterSeq, limit: PAGE_MESSAGES })
      messages.push(...page)
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE_MESSAGES) break
      afterSeq = last.seq
    }
    return { threadId, messages, headSeq: thread?.headSeq ?? 0 }
  })
}

/** Dead letters: an outage must not cause any. */
export async function countDeadLetters(databaseUrl: string): Promise<number> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from heddle.dead_letters`
    return row?.count ?? 0
  } finally {
    await sql.end()
  }
}
