import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { shortCode } from '@heddle/core'
import {
  archiveEntries,
  findArchiveEntry,
  findMessagesByCode,
  listHistory,
  loadMessage,
  loadMessagesBySeq,
  loadThread,
} from '@heddle/store'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { append, appendOne, newId, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()
const MIGRATION = new URL('../../../../packages/store/migrations/before-1/0025_restored_messages.sql', import.meta.url)

/** Runs the row changes of the migration, which runs once on a store of an earlier version. */
async function turnCopiesIntoMarks(): Promise<void> {
  const statements = (await readFile(fileURLToPath(MIGRATION), 'utf8')).split('--> statement-breakpoint')
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  for (const statement of statements.filter((each) => !/ADD COLUMN|CREATE INDEX/.test(each)))
    await sql.unsafe(statement)
  await sql.end()
}

let copiesMade = 0
const copyOf = (original: string, fields: object) =>
  prepared(
    {
      ...fields,
      // The other metadata of a message may be undecodable for Postgres.
      metadata: {
        odd: '\u0000 \ud800',
        restored: { snapshot: newId(), message: original, timestamp: '2026-02-12T14:30:00.000Z' },
      },
    },
    { orderedAtMs: RECEIVED_AT_MS + 60_000, ordinal: copiesMade++ },
  )

describe('copies that earlier versions stored', () => {
  it('become marks that show the same messages, which are counted, listed and archived once', async () => {
    const call = { id: 'c1', name: 'Read', arguments: { file_path: '/a.ts' } }
    const spoken = { role: 'assistant' as const, content: 'looking', toolCalls: [call], thinking: [{ text: 'hm' }] }
    const result = { role: 'tool_result' as const, content: 'x'.repeat(400), toolCallId: 'c1', toolName: 'Read' }
    const odd = { content: 'nul \u0000 and half \ud800' }
    const originals = [prepared(spoken), prepared(result, { ordinal: 1 }), prepared(odd, { ordinal: 2 })]
    const idOf = (index: number) => originals[index]?.input.id ?? ''
    const copies = [
      copyOf(idOf(0), spoken),
      copyOf(idOf(1), result),
      copyOf(idOf(2), odd),
      copyOf(idOf(1), result),
      copyOf(idOf(0), { ...spoken, content: 'said otherwise' }),
      copyOf(newId(), { content: 'of a message that is not there' }),
    ]
    const { threadId, tokensEstimate } = await appendOne(database.store, append([...originals, ...copies]))
    const inProject = database.store.inProject.bind(database.store)
    const seen = await inProject(PROJECT, (tx) => loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 100 }))
    const archived = { threadId, contentType: 'other', summary: 's', content: 'y'.repeat(400), filePaths: [] }
    const entry = { ...archived, toolName: 'Read', tokenCount: 100, originalCreatedAtMs: RECEIVED_AT_MS }
    const copyIds = [1, 3].map((index) => copies[index]?.input.id ?? '')
    await inProject(PROJECT, (tx) =>
      archiveEntries(
        tx,
        copyIds.map((messageId) => ({ ...entry, messageId })),
      ),
    )

    await turnCopiesIntoMarks()
    await inProject(PROJECT, async (tx) => {
      const shown = await loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 100 })
      expect(shown.map(({ restores }) => restores?.seq)).toEqual([
        ...[undefined, undefined, undefined],
        ...[1, 2, 3, 2],
        ...[undefined, undefined],
      ])
      expect(shown.map(({ restores: _, ...message }) => message)).toEqual(seen)
      const history = await listHistory(tx, { threadId, limit: 100, order: 'asc' })
      expect(history?.messages.map(({ seq, restored }) => [seq, restored?.seq])).toEqual([
        [1, 4],
        [2, 7],
        [3, 6],
        [8, undefined],
        [9, undefined],
      ])
      const thread = await loadThread(tx, { threadId })
      const marked = copies.slice(0, 4).reduce((sum, copy) => sum + copy.tokensEstimate, 0)
      expect(thread).toMatchObject({ headSeq: 9, restoredCount: 4, tokensEstimate: tokensEstimate - marked })

      for (const messageId of copyIds) expect(await findArchiveEntry(tx, { threadId, messageId })).toBeNull()
      expect(await findArchiveEntry(tx, { threadId, messageId: idOf(1) })).toMatchObject({ contentType: 'other' })
      const [{ times } = { times: 0 }] = await tx<{ times: number }[]>`
        select reference_count as times from heddle.archive_contents where size_bytes = 400`
      expect(times).toBe(1)

      const [mark] = copyIds
      expect(await loadMessage(tx, { threadId, id: mark ?? '' })).toMatchObject({ id: idOf(1), seq: 2 })
      const code = shortCode(mark ?? '', 8)
      expect(await findMessagesByCode(tx, threadId, code)).toEqual([{ id: idOf(1), seq: 2, code, role: 'tool_result' }])
    })
  })
})
