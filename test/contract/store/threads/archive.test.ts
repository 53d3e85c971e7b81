import { threadIdOf } from '@heddle/core'
import {
  archiveEntries,
  findArchiveEntry,
  findMessagesByCode,
  findThreads,
  type NewArchiveEntry,
  readArchiveContent,
  readArchived,
  recordAccesses,
  type Tx,
} from '@heddle/store'
import { describe, expect, it } from 'vitest'
import {
  append,
  appendOne,
  freshStore,
  newId,
  OTHER_PROJECT,
  PROJECT,
  prepared,
  RECEIVED_AT_MS,
  storeOfTests,
} from '../support.js'

const database = storeOfTests()

function entry(content: string, fields: Partial<NewArchiveEntry> = {}): NewArchiveEntry {
  return {
    threadId: threadIdOf(PROJECT, 'archived'),
    messageId: newId(),
    contentType: 'file_view',
    summary: '[read src/a.ts]',
    content,
    filePaths: ['src/a b.ts', 'src/"c",{d}.ts'],
    toolName: 'Read',
    tokenCount: 12,
    originalCreatedAtMs: RECEIVED_AT_MS,
    ...fields,
  }
}

const contentsOf = (tx: Tx) =>
  tx<{ referenceCount: number; sizeBytes: number; stored: number }[]>`
    select reference_count, size_bytes, octet_length(content) as stored from heddle.archive_contents order by size_bytes`

describe('the archive', () => {
  it('returns contents to the byte, whatever they hold', async () => {
    for (const content of [
      '',
      'plain',
      'NUL \0 and half of an emoji \ud83d',
      '😀'.repeat(10_000),
      `${'x'.repeat(100_000)}\udc00`,
      // Longer than one decoding step, whatever the byte length of its characters.
      `x${'é漢😀\ud83d'.repeat(120_000)}`,
    ]) {
      const one = entry(content)
      await database.store.inProject(PROJECT, async (tx) => {
        const [id] = await archiveEntries(tx, [one])
        const found = await findArchiveEntry(tx, one)
        const { content: _, ...fields } = one
        expect(found).toMatchObject({ id, location: '', accessCount: 0, lastAccessedAtMs: null, ...fields })
        expect(await readArchiveContent(tx, found?.contentHash ?? new Uint8Array())).toBe(content)
      })
    }
  })

  it('stores each distinct content of a project once and counts its references exactly', async () => {
    const local = await freshStore()
    try {
      const repeated = 'the same file again '.repeat(500)
      const [first, second] = [entry(repeated), entry(repeated)]
      await local.store.inProject(PROJECT, async (tx) => {
        const ids = await archiveEntries(tx, [first, second, entry('another')])
        expect(new Set(ids).size).toBe(3)
        // Twice the same entry, and once at another place of the same message.
        expect(await archiveEntries(tx, [second, first])).toEqual([ids[1], ids[0]])
        await archiveEntries(tx, [{ ...first, location: 'tool-2' }])
        const contents = await contentsOf(tx)
        expect(contents.map(({ referenceCount }) => referenceCount)).toEqual([1, 3])
        expect(contents[1]?.stored).toBeLessThan((contents[1]?.sizeBytes ?? 0) / 10)
      })
      await local.store.inProject(OTHER_PROJECT, async (tx) => {
        await archiveEntries(tx, [entry(repeated)])
        expect((await contentsOf(tx)).map(({ referenceCount }) => referenceCount)).toEqual([1])
      })
    } finally {
      await local.drop()
    }
  })

  it('counts exactly when several workers archive the same contents at once', async () => {
    const local = await freshStore()
    try {
      const archive = () =>
        local.store.inProject(PROJECT, (tx) =>
          archiveEntries(tx, [entry('shared one'), entry('shared three'), entry('shared four')]),
        )
      await Promise.all(Array.from({ length: 8 }, archive))
      const contents = await local.store.inProject(PROJECT, contentsOf)
      expect(contents.map(({ referenceCount }) => referenceCount)).toEqual([8, 8, 8])
    } finally {
      await local.drop()
    }
  })

  it('stores no copy of a text that the message has', async () => {
    const local = await freshStore()
    const text = `the text of a result, with an é, a 😀 and "quotes" `.repeat(50)
    const long = text.repeat(120)
    const messages = [
      prepared({ content: text }),
      // Each message has its own text, however often it is the same.
      prepared({ content: text }, { ordinal: 1 }),
      prepared({ content: `${text}.` }, { ordinal: 2 }),
      prepared({ content: 'NUL \0' }, { ordinal: 3 }),
      prepared({ content: long }, { ordinal: 4 }),
      prepared({ content: '' }, { ordinal: 5 }),
    ]
    try {
      const { threadId } = await appendOne(local.store, append(messages, { thread: 'archived' }))
      const contents = [text, text, text, 'NUL \0', long, '']
      const entries = contents.map((content, index) =>
        entry(content, { threadId, messageId: messages[index]?.input.id ?? '' }),
      )
      await local.store.inProject(PROJECT, async (tx) => {
        await archiveEntries(tx, [...entries, { ...(entries[1] as NewArchiveEntry), location: 'tool-1' }])
        const found = await Promise.all(entries.map((one) => findArchiveEntry(tx, one)))
        expect(found.map((one) => one?.contentHash === null)).toEqual([true, true, false, false, false, true])
        expect(await contentsOf(tx)).toMatchObject([
          { referenceCount: 1, sizeBytes: 5 },
          { referenceCount: 2, sizeBytes: Buffer.byteLength(text) },
          { referenceCount: 1, sizeBytes: Buffer.byteLength(long) },
        ])
        expect(await archiveEntries(tx, entries)).toEqual(found.map((one) => one?.id))
        const read = await Promise.all(entries.map(({ messageId }) => readArchived(tx, { threadId, messageId })))
        expect(read.map((one) => one?.content)).toEqual([null, null, text, 'NUL \0', long, null])
      })
    } finally {
      await local.drop()
    }
  })

  it('counts recalls', async () => {
    const one = entry('recalled')
    await database.store.inProject(PROJECT, async (tx) => {
      const [id] = await archiveEntries(tx, [one])
      await recordAccesses(tx, [{ id: id ?? '', count: 2, lastAtMs: RECEIVED_AT_MS + 1 }])
      // Another process may have read it before, and write that value later.
      await recordAccesses(tx, [{ id: id ?? '', count: 1, lastAtMs: RECEIVED_AT_MS }])
      expect(await findArchiveEntry(tx, one)).toMatchObject({ accessCount: 3, lastAccessedAtMs: RECEIVED_AT_MS + 1 })
      expect(await findArchiveEntry(tx, { ...one, location: 'L1-2' })).toBeNull()
      expect(await readArchiveContent(tx, new Uint8Array(32))).toBeNull()
    })
  })
})

describe('short codes', () => {
  it('find threads and messages by a prefix', async () => {
    const { threadId } = await appendOne(database.store, append([prepared(), prepared()], { thread: 'coded' }))
    await database.store.inProject(PROJECT, async (tx) => {
      const messages = await findMessagesByCode(tx, threadId, '')
      expect(messages).toHaveLength(2)
      const code = messages[0]?.code ?? ''
      expect(await findMessagesByCode(tx, threadId, code)).toEqual([messages[0]])
      expect(await findMessagesByCode(tx, threadId, code.slice(0, 5))).toContainEqual(messages[0])
      expect(await findMessagesByCode(tx, threadId, `${code}0`)).toEqual([])
      const [thread] = await findThreads(tx, { threadId, codePrefix: '' })
      const codePrefix = thread?.code.slice(0, 6) ?? ''
      expect(await findThreads(tx, { threadId: newId(), codePrefix })).toEqual([thread])
      // The one of the id comes first, and only once.
      expect(await findThreads(tx, { threadId, codePrefix })).toEqual([thread])
      expect(await findThreads(tx, { threadId: newId(), codePrefix: 'no\0code' })).toEqual([])
    })
    expect(await database.store.inProject(OTHER_PROJECT, (tx) => findMessagesByCode(tx, threadId, ''))).toEqual([])
  })
})
