import { projectIdOf, threadIdOf } from '@heddle/core'
import { exportMessages, exportTables, unexportedColumns } from '@heddle/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { append, appendOne, prepared, storeOfTests } from '../store/support.js'
import { clientOn } from './support.js'
import { generatedThread, some, weave } from './woven-thread.js'

const database = storeOfTests()

let made = 0
const freshProject = () => `export tests ${++made}`

async function exported(project: string, thread = 'cloth'): Promise<string[]> {
  const lines: string[] = []
  for await (const line of clientOn(database, project).threads.export(thread)) lines.push(line)
  return lines
}

async function* streamed(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) yield line.replace(/\n$/, '')
}

const imported = (project: string, lines: readonly string[], options: { as?: string } = {}) =>
  clientOn(database, project).threads.import(() => streamed(lines), options)

describe('a page of an export', () => {
  it('ends at its byte limit, and the next page continues after it', async () => {
    const project = freshProject()
    const projectId = projectIdOf(project)
    const threadId = threadIdOf(projectId, 'large')
    const contents = Array.from({ length: 7 }, (_, index) => `${index}`.repeat(3_000_000))
    const messages = contents.map((content) => prepared({ content }))
    await appendOne(database.store, append(messages, { thread: 'large' }), projectId)
    const found: string[] = []
    const sizes: number[] = []
    while (found.length < contents.length) {
      const query = { threadId, afterSeq: found.length, headSeq: contents.length }
      const page = await database.store.inProject(projectId, (tx) => exportMessages(tx, query))
      sizes.push(page.length)
      found.push(...page.map((json) => JSON.parse(json).content))
    }
    expect(sizes).toEqual([3, 3, 1])
    expect(found.every((content) => contents.includes(content))).toBe(true)
    expect((await exported(project, 'large')).filter((line) => line.startsWith('{"type":"message"'))).toHaveLength(7)
  })
})

describe('a thread that is exported and imported', () => {
  it('is exported again byte for byte, whatever its contents', async () => {
    await fc.assert(
      fc.asyncProperty(generatedThread, async (generated) => {
        const [from, to] = [freshProject(), freshProject()]
        await weave(database, from, generated)
        const lines = await exported(from)
        await imported(to, lines)
        expect(await exported(to)).toEqual(lines)
      }),
      { numRuns: 25 },
    )
  }, 120_000)

  it('adds nothing the second time, and nothing to its source thread', async () => {
    const [from, to] = [freshProject(), freshProject()]
    await weave(database, from, some)
    const lines = await exported(from)
    const first = await imported(to, lines)
    expect(first).toMatchObject({
      thread: 'cloth',
      agent: 'weaver',
      messages: 10,
      added: { message: 10, archive: 3, state: 3, pruning: 3 },
    })
    for (const project of [to, from]) {
      const { added } = await imported(project, lines)
      expect(Object.values(added).filter((count) => count > 0)).toEqual([])
      expect(await exported(project)).toEqual(lines)
    }
  })

  it('continues after an interrupted import, and where the original grew', async () => {
    const [from, to] = [freshProject(), freshProject()]
    await weave(database, from, some)
    const lines = await exported(from)
    const cut = async function* () {
      yield* streamed(lines.slice(0, -4))
      throw new Error('the disk is gone')
    }
    let reads = 0
    const client = clientOn(database, to)
    await expect(client.threads.import(() => (++reads === 1 ? streamed(lines) : cut()))).rejects.toThrow('disk')
    expect((await client.threads.get('cloth')).messages).toBeLessThan(8)
    await imported(to, lines)
    expect(await exported(to)).toEqual(lines)

    await appendOne(database.store, append([prepared(), prepared()]), projectIdOf(from))
    const grown = await exported(from)
    expect((await imported(to, grown)).added.message).toBe(2)
    expect(await exported(to)).toEqual(grown)
    // An older file adds nothing and removes nothing.
    await imported(to, lines)
    expect(await exported(to)).toEqual(grown)
  })

  it('can have another name beside the original, and its references and its archive remain valid', async () => {
    const project = freshProject()
    await weave(database, project, some)
    const lines = await exported(project)
    await imported(project, lines, { as: 'copy' })
    const client = clientOn(database, project)
    const ofCopy = await exported(project, 'copy')
    expect(ofCopy.slice(1)).toEqual(lines.slice(1))
    const [hit] = (await client.archive.list({ thread: 'copy', failed: true })).items
    const short = hit?.ref.split('/').at(-1) ?? ''
    expect((await client.recall({ ref: short, thread: 'copy' })).content).toBe('the same')
    expect((await client.recall({ ref: short, thread: 'cloth' })).content).toBe('the same')
    const counts = await database.store.inProject(
      projectIdOf(project),
      (tx) => tx<{ referenceCount: number }[]>`
      select reference_count from heddle.archive_contents order by reference_count`,
    )
    expect(counts.map(({ referenceCount }) => referenceCount)).toEqual([2, 4])
  })

  it('adds items that its agent lacks, keeps those that it has, and holds exactly the items that it held', async () => {
    const [from, to] = [freshProject(), freshProject()]
    await weave(database, from, some)
    const client = clientOn(database, to)
    const style = { type: 'rule', name: 'style' } as const
    await client.items.put('weaver', { ...style, text: 'Write long sentences.' })
    await client.items.put('weaver', { type: 'rule', name: 'own', include: 'always' })
    await client.items.remove('weaver', { type: 'rule', name: 'own' })
    await client.items.put('weaver', { type: 'rule', name: 'other', include: 'always' })
    expect((await imported(to, await exported(from))).added).toMatchObject({ item: 3, toolServer: 1, threadItem: 5 })
    expect(await client.items.get('weaver', style)).toMatchObject({ text: 'Write long sentences.', version: 1 })
    expect((await client.items.list('weaver')).items.map(({ name }) => name)).toEqual([
      'äpi "v2"',
      'other',
      'style',
      'read',
    ])
    const held = await client.items.listOfThread('cloth')
    expect(held.map(({ name, includeMode }) => [name, includeMode])).toEqual([
      ['style', 'always'],
      ['äpi "v2"', 'manual'],
    ])
  })

  it('is refused where the name belongs to another conversation, and nothing is stored', async () => {
    const [from, to] = [freshProject(), freshProject()]
    await weave(database, from, some)
    await weave(database, to, { ...some, states: [] })
    const before = await exported(to)
    await expect(imported(to, await exported(from))).rejects.toMatchObject({ code: 'CONFLICT', field: 'as' })
    expect(await exported(to)).toEqual(before)
  })

  it.each([
    ['cut short', (lines: string[]) => lines.slice(0, -1), /end record/],
    ['cut in a line', (lines: string[]) => [...lines.slice(0, -2), lines.at(-2)?.slice(0, 50) ?? ''], /JSON/],
    ['a line less', (lines: string[]) => lines.toSpliced(2, 1), /must count|must be/],
    ['another order', (lines: string[]) => lines.toReversed(), /must be the record of the thread/],
    ['two threads', (lines: string[]) => [...lines, ...lines], /must not come after the end/],
    ['an unknown field', (lines: string[]) => lines.with(-2, lines.at(-2)?.replace('{', '{"extra":1,') ?? ''), /extra/],
    [
      'a wrong role',
      (lines: string[]) => lines.with(-2, lines.at(-2)?.replace(/"role":"\w+"/, '"role":"root"') ?? ''),
      /role/,
    ],
    [
      'a call without a content',
      (lines: string[]) =>
        lines.map((line) =>
          line.startsWith('{"type":"archive"')
            ? line
                .replace('"location":""', '"location":"tool-1"')
                .replace(/"contentHash":"[^"]*"/, '"contentHash":null')
            : line,
        ),
      /null only of a message/,
    ],
    [
      'another version',
      (lines: string[]) => lines.with(0, lines[0]?.replace('"version":1', '"version":9') ?? ''),
      /version/,
    ],
    ['nothing at all', () => [], /must be the end record/],
  ])('is refused if the file has %s, and nothing is stored', async (_, broken, rule) => {
    const [from, to] = [freshProject(), freshProject()]
    await weave(database, from, some)
    const fault = imported(to, broken(await exported(from)))
    await expect(fault).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: expect.stringMatching(/^line \d+/) })
    await expect(fault).rejects.toThrow(rule)
    await expect(exported(to)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('cannot store a content under the hash of another', async () => {
    const [from, to] = [freshProject(), freshProject()]
    await weave(database, from, some)
    const forged = (await exported(from)).map((line) => line.replace('"text":"the same"', '"text":"forged"'))
    await expect(imported(to, forged)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'contentHash' })
    const held = await database.store.inProject(projectIdOf(to), (tx) => tx`select from heddle.archive`)
    expect(held).toHaveLength(0)
  })

  it('is read and written page by page, and reports an erasure in between', async () => {
    const [from, to] = [freshProject(), freshProject()]
    const messages = Array.from({ length: 3_000 }, (_, index) => prepared({ content: `${index}` }, { ordinal: index }))
    const { threadId } = await appendOne(database.store, append(messages), projectIdOf(from))
    const lines = await exported(from)
    const stored = async () => (await clientOn(database, to).threads.get('cloth')).messages
    let reads = 0
    const storedAtTheEnd: number[] = []
    await clientOn(database, to).threads.import(async function* () {
      const isWriting = ++reads === 2
      yield* streamed(lines.slice(0, -1))
      if (isWriting) storedAtTheEnd.push(await stored())
      yield* streamed(lines.slice(-1))
    })
    expect(storedAtTheEnd[0]).toBeGreaterThan(2_500)
    expect(storedAtTheEnd[0]).toBeLessThan(3_000)
    expect(await exported(to)).toEqual(lines)

    const reading = clientOn(database, from).threads.export('cloth')[Symbol.asyncIterator]()
    for (let line = 0; line < 20; line++) await reading.next()
    await database.store.inProject(
      projectIdOf(from),
      (tx) => tx`delete from heddle.messages where thread_id = ${threadId}`,
    )
    const rest = async () => {
      while (!(await reading.next()).done);
    }
    await expect(rest()).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

it('every column of the exported tables is exported or listed as left out', async () => {
  const columns = await database.store.inProject(
    projectIdOf('columns'),
    (tx) => tx<{ table: string; column: string }[]>`
    select relname as table, attname as column
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'heddle'::regnamespace and attnum > 0 and not attisdropped`,
  )
  for (const { table, columns: known } of Object.values(exportTables)) {
    const missing = columns
      .filter((row) => row.table === table && !(row.column in known))
      .map((row) => row.column)
      .filter((column) => !unexportedColumns.includes(column) && !unexportedColumns.includes(`${column} of ${table}`))
    expect(missing, table).toEqual([])
  }
})
