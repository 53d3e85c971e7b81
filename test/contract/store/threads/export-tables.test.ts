import { projectIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { exportTables } from '@heddle/store'
import { expect, test } from 'vitest'
import { asOwner } from '../erasure/erasure-support.js'
import { append, appendOne, prepared, storeOfTests } from '../support.js'

const database = storeOfTests()

/** Tables with rows of a thread that are not part of its export. */
const elsewhere = [
  // Part of the record of the thread, and beside its messages.
  'stage_cursors',
  'message_tokens',
  // Computed again after an import.
  'vector_threads',
  'vectors',
  'posting_threads',
  'summary_parts',
  'summary_leaves',
  // Records of one installation. The states of these lanes are exported; the next request records its lane again.
  'kept_lanes',
  // The numbers of the exported versions.
  'memory_blocks',
  // Counts the changes of one installation.
  'fact_scopes',
  // The messages that a fork shares are exported as its own.
  'thread_origins',
  'message_erasures',
  'tombstones',
  'contexts',
  'context_items',
  'context_lines',
  'context_mentions',
  'events',
  'dead_letters',
  'summary_calls',
  'proxied_conversations',
  'proxied_requests',
  'proxied_views',
  'proxied_texts',
]

test('every table with rows of a thread is exported or listed as left out', async () => {
  const tables = await asOwner(
    database.url,
    async (sql) =>
      await sql<{ name: string }[]>`
        select table_name as name from information_schema.columns
        where table_schema = 'heddle' and column_name = 'thread_id'`,
  )
  const exported = Object.values(exportTables).map(({ table }) => table)
  expect(tables.map(({ name }) => name).sort()).toEqual([...exported, ...elsewhere].sort())
})

test('an undone compaction stays undone in an imported copy', async () => {
  const client = (project: string) => createClient({ store: database.store, queues: null, project })
  const projectId = projectIdOf('original')
  const messages = [0, 1, 2].map((ordinal) => prepared({}, { ordinal }))
  const { threadId } = await appendOne(database.store, append(messages), projectId)
  const [undone, redone] = messages.map(({ input }) => input.id)
  await database.store.inProject(
    projectId,
    (tx) => tx`
      insert into heddle.undone_messages (thread_id, message_id, redone_at)
      values (${threadId}, ${undone ?? ''}, null), (${threadId}, ${redone ?? ''}, now())`,
  )
  const read = async (project: string) => {
    const lines: string[] = []
    for await (const line of client(project).threads.export(append([]).thread)) lines.push(line)
    return lines
  }
  const lines = await read('original')
  expect(lines.filter((line) => line.startsWith('{"type":"undone"'))).toHaveLength(2)

  async function* streamed() {
    for (const line of lines) yield line.trimEnd()
  }
  const copy = await client('copy').threads.import(streamed)
  expect(copy.added.undone).toBe(2)
  expect(await read('copy')).toEqual(lines)
  expect((await client('copy').threads.import(streamed)).added.undone).toBe(0)
})
