import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectIdOf } from '@heddle/core'
import { abandonMove, listPlacements, type Store, sweepSnapshotFiles } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { OTHER_PROJECT, PROJECT } from '../support.js'
import {
  contentsIn,
  Killed,
  killedIn,
  leftBehind,
  move,
  rowsOf,
  type TwoDatabases,
  twoDatabases,
  write,
} from './two-databases.js'

let databases: TwoDatabases
let store: Store
beforeEach(async () => {
  databases = await twoDatabases()
  store = databases.open()
  await write(store, ['one two', 'three'])
})
afterEach(() => databases.drop())

const abandon = () => abandonMove({ projectId: PROJECT, project: 'store tests', databases: databases.addresses })

async function expectMoved(): Promise<void> {
  await write(store, ['four'])
  expect(await contentsIn(store)).toEqual(['one two', 'three', 'four'])
  expect(await contentsIn(databases.open())).toEqual(['one two', 'three', 'four'])
  expect(await rowsOf(databases.sql.default)).toBe(0)
  expect(await leftBehind(databases.sql.default)).toEqual([])
}

test('a move that has ended is not repeated', async () => {
  await move(databases)
  expect(await move(databases)).toMatchObject({ state: 'done', to: 'b' })
})

test('a project moves back, and processes that remember its first place find it there', async () => {
  const early = databases.open()
  await contentsIn(early)
  await move(databases)
  await write(store, ['four'])
  await expect(move(databases, { to: 'default', ...killedIn('removing') })).rejects.toThrow(Killed)
  // Its former database knows that it has left, and the default one does not know yet that it is back.
  expect(await contentsIn(early)).toEqual(['one two', 'three', 'four'])
  expect(await contentsIn(store)).toEqual(['one two', 'three', 'four'])
  expect(await contentsIn(databases.open())).toEqual(['one two', 'three', 'four'])
  await move(databases, { to: 'default' })
  await write(early, ['five'])
  expect(await contentsIn(databases.openDefault())).toEqual(['one two', 'three', 'four', 'five'])
  expect(await rowsOf(databases.sql.b)).toBe(0)
})

test('rows keep the numbers that their database gave them, beside those of other projects', async () => {
  await move(databases)
  // Both databases number the rows of the word index of further projects and messages.
  await write(store, ['in b'])
  await write(store, ['of another project'], OTHER_PROJECT)
  await move(databases, { to: 'b', projectId: OTHER_PROJECT })
  await move(databases, { to: 'default' })
  expect(await contentsIn(store)).toEqual(['one two', 'three', 'in b'])
  expect(await contentsIn(store, OTHER_PROJECT)).toEqual(['of another project'])
  await write(store, ['again'])
  await write(store, ['again'], OTHER_PROJECT)
})

test('a process without HEDDLE_DATABASES can neither write to a project that has left nor create it again', async () => {
  const old = databases.openDefault()
  await contentsIn(old)
  const refusal = { code: 'SERVICE_UNAVAILABLE', hint: expect.stringContaining('HEDDLE_DATABASES') }
  await expect(move(databases, killedIn('removing'))).rejects.toThrow(Killed)
  await expect(write(old, ['lost'])).rejects.toMatchObject(refusal)
  await move(databases)
  await expect(write(old, ['lost'])).rejects.toMatchObject(refusal)
  await expectMoved()
})

test('a process whose databases lack that of a project refuses its work', async () => {
  await move(databases)
  await databases.sql.default`update heddle_placement.placement set database = 'c', version = 2`
  await expect(contentsIn(databases.open())).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    field: 'HEDDLE_DATABASES',
  })
})

test('a project is placed before it exists, and is created there', async () => {
  const projectId = projectIdOf('to come')
  await expect(move(databases, { projectId })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await move(databases, { projectId, isNew: true })
  expect(await listPlacements(databases.addresses)).toContainEqual(
    expect.objectContaining({ projectId, project: null, database: 'b' }),
  )
  await write(store, ['hello'], projectId)
  expect(await rowsOf(databases.sql.default, projectId)).toBe(0)
  expect(await contentsIn(databases.open(), projectId)).toEqual(['hello'])
})

test('one project at a time leaves a database', async () => {
  await write(store, ['of another project'], OTHER_PROJECT)
  await expect(move(databases, killedIn('verifying'))).rejects.toThrow(Killed)
  await expect(move(databases, { projectId: OTHER_PROJECT })).rejects.toMatchObject({ code: 'CONFLICT' })
  await move(databases)
  await move(databases, { projectId: OTHER_PROJECT })
  expect(await contentsIn(store, OTHER_PROJECT)).toEqual(['of another project'])
})

test('an unreachable database is refused, and an unknown one', async () => {
  const addresses = { ...databases.addresses, b: 'postgres://postgres@127.0.0.1:1/nothing' }
  await expect(move(databases, { databases: addresses })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  await expect(move(databases, { to: 'c' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'to' })
  await move(databases)
  await expectMoved()
})

test.each(['abandoned', 'run again'])(
  'a switch that commits while its move is %s is seen before anything is written to the copy',
  async (how) => {
    await expect(move(databases, killedIn('switching'))).rejects.toThrow(Killed)
    const { default: former, b } = databases.sql
    await b`
    insert into heddle_placement.placement (project_id, database, version, is_here, arriving)
    values (${PROJECT}, 'default', 0, false, 1)`
    let ending: Promise<unknown> = Promise.resolve()
    await former.begin(async (late) => {
      await late`select pg_advisory_xact_lock(46804682, hashtext(${PROJECT}))`
      await late`
      insert into heddle_placement.placement (project_id, database, version, is_here) values (${PROJECT}, 'b', 1, false)`
      ending = (how === 'abandoned' ? abandon() : move(databases)).catch((error: unknown) => error)
      await waitFor(async () => {
        const waiting = await former`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`
        return waiting.length > 0
      })
    })
    const ended = await ending
    if (how === 'abandoned') {
      expect(ended).toMatchObject({ code: 'CONFLICT', field: 'abandon' })
      await move(databases)
    } else expect(ended).toMatchObject({ state: 'done' })
    await expectMoved()
  },
)

test('a move whose lock has ended does not go on', async () => {
  const states: string[] = []
  const onState = async ({ state }: { state: string }) => {
    states.push(state)
    if (state !== 'verifying') return
    await databases.sql.default`
      select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`
  }
  await expect(move(databases, { onState })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  await move(databases)
  expect(states).toEqual(['copying', 'catching-up', 'verifying'])
  await expectMoved()
})

test('a process without HEDDLE_DATABASES keeps the snapshot files of a project that has left', async () => {
  await move(databases)
  const root = await mkdtemp(join(tmpdir(), 'heddle-moves-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const folder = join(root, `project.${PROJECT}`, `agent.${randomUUID()}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'saved.json'), '{}')
  expect(await sweepSnapshotFiles(databases.openDefault(), { folder: root })).toEqual({ removed: 0, rewritten: 0 })
  expect(await readdir(folder)).toEqual(['saved.json'])
  // In its database, a file without a row is removed.
  expect(await sweepSnapshotFiles(store, { folder: root })).toEqual({ removed: 1, rewritten: 0 })
})
