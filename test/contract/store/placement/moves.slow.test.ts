import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectIdOf } from '@heddle/core'
import { listPlacements, sweepSnapshotFiles } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { expect, onTestFinished, test } from 'vitest'
import { OTHER_PROJECT, PROJECT } from '../support.js'
import { contentsIn, Killed, killedIn, move, projectOfTests, rowsOf, write } from './two-databases.js'

const tests = projectOfTests()

test('a move that has ended is not repeated', async () => {
  await move(tests.databases)
  expect(await move(tests.databases)).toMatchObject({ state: 'done', to: 'b' })
})

test('a project moves back, and processes that remember its first place find it there', async () => {
  const early = tests.databases.open()
  await contentsIn(early)
  await move(tests.databases)
  await write(tests.store, ['four'])
  await expect(move(tests.databases, { to: 'default', ...killedIn('removing') })).rejects.toThrow(Killed)
  // Its former database knows that it has left, and the default one does not know yet that it is back.
  expect(await contentsIn(early)).toEqual(['one two', 'three', 'four'])
  expect(await contentsIn(tests.store)).toEqual(['one two', 'three', 'four'])
  expect(await contentsIn(tests.databases.open())).toEqual(['one two', 'three', 'four'])
  await move(tests.databases, { to: 'default' })
  await write(early, ['five'])
  expect(await contentsIn(tests.databases.openDefault())).toEqual(['one two', 'three', 'four', 'five'])
  expect(await rowsOf(tests.databases.sql.b)).toBe(0)
})

test('rows keep the numbers that their database gave them, beside those of other projects', async () => {
  await move(tests.databases)
  // Both tests.databases number the rows of the word index of further projects and messages.
  await write(tests.store, ['in b'])
  await write(tests.store, ['of another project'], OTHER_PROJECT)
  await move(tests.databases, { to: 'b', projectId: OTHER_PROJECT })
  await move(tests.databases, { to: 'default' })
  expect(await contentsIn(tests.store)).toEqual(['one two', 'three', 'in b'])
  expect(await contentsIn(tests.store, OTHER_PROJECT)).toEqual(['of another project'])
  await write(tests.store, ['again'])
  await write(tests.store, ['again'], OTHER_PROJECT)
})

test('a process without HEDDLE_DATABASES can neither write to a project that has left nor create it again', async () => {
  const old = tests.databases.openDefault()
  await contentsIn(old)
  const refusal = { code: 'SERVICE_UNAVAILABLE', hint: expect.stringContaining('HEDDLE_DATABASES') }
  await expect(move(tests.databases, killedIn('removing'))).rejects.toThrow(Killed)
  await expect(write(old, ['lost'])).rejects.toMatchObject(refusal)
  await move(tests.databases)
  await expect(write(old, ['lost'])).rejects.toMatchObject(refusal)
  await tests.expectMoved()
})

test('a process whose tests.databases lack that of a project refuses its work', async () => {
  await move(tests.databases)
  await tests.databases.sql.default`update heddle_placement.placement set database = 'c', version = 2`
  await expect(contentsIn(tests.databases.open())).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    field: 'HEDDLE_DATABASES',
  })
})

test('a project is placed before it exists, and is created there', async () => {
  const projectId = projectIdOf('to come')
  await expect(move(tests.databases, { projectId })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await move(tests.databases, { projectId, isNew: true })
  expect(await listPlacements(tests.databases.addresses)).toContainEqual(
    expect.objectContaining({ projectId, project: null, database: 'b' }),
  )
  await write(tests.store, ['hello'], projectId)
  expect(await rowsOf(tests.databases.sql.default, projectId)).toBe(0)
  expect(await contentsIn(tests.databases.open(), projectId)).toEqual(['hello'])
})

test('one project at a time leaves a database', async () => {
  await write(tests.store, ['of another project'], OTHER_PROJECT)
  await expect(move(tests.databases, killedIn('verifying'))).rejects.toThrow(Killed)
  await expect(move(tests.databases, { projectId: OTHER_PROJECT })).rejects.toMatchObject({ code: 'CONFLICT' })
  await move(tests.databases)
  await move(tests.databases, { projectId: OTHER_PROJECT })
  expect(await contentsIn(tests.store, OTHER_PROJECT)).toEqual(['of another project'])
})

test('an unreachable database is refused, and an unknown one', async () => {
  const addresses = { ...tests.databases.addresses, b: 'postgres://postgres@127.0.0.1:1/nothing' }
  await expect(move(tests.databases, { databases: addresses })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  await expect(move(tests.databases, { to: 'c' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'to' })
  await move(tests.databases)
  await tests.expectMoved()
})

test.each(['abandoned', 'run again'])(
  'a switch that commits while its move is %s is seen before anything is written to the copy',
  async (how) => {
    await expect(move(tests.databases, killedIn('switching'))).rejects.toThrow(Killed)
    const { default: former, b } = tests.databases.sql
    await b`
    insert into heddle_placement.placement (project_id, database, version, is_here, arriving)
    values (${PROJECT}, 'default', 0, false, 1)`
    let ending: Promise<unknown> = Promise.resolve()
    await former.begin(async (late) => {
      await late`select pg_advisory_xact_lock(46804682, hashtext(${PROJECT}))`
      await late`
      insert into heddle_placement.placement (project_id, database, version, is_here) values (${PROJECT}, 'b', 1, false)`
      ending = (how === 'abandoned' ? tests.abandon() : move(tests.databases)).catch((error: unknown) => error)
      await waitFor(async () => {
        const waiting = await former`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`
        return waiting.length > 0
      })
    })
    const ended = await ending
    if (how === 'abandoned') {
      expect(ended).toMatchObject({ code: 'CONFLICT', field: 'abandon' })
      await move(tests.databases)
    } else expect(ended).toMatchObject({ state: 'done' })
    await tests.expectMoved()
  },
)

test('a move whose lock has ended does not go on', async () => {
  const states: string[] = []
  const onState = async ({ state }: { state: string }) => {
    states.push(state)
    if (state !== 'verifying') return
    await tests.databases.sql.default`
      select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`
  }
  await expect(move(tests.databases, { onState })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  await move(tests.databases)
  expect(states).toEqual(['copying', 'catching-up', 'verifying'])
  await tests.expectMoved()
})

test('a process without HEDDLE_DATABASES keeps the snapshot files of a project that has left', async () => {
  await move(tests.databases)
  const root = await mkdtemp(join(tmpdir(), 'heddle-moves-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const folder = join(root, `project.${PROJECT}`, `agent.${randomUUID()}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'saved.json'), '{}')
  expect(await sweepSnapshotFiles(tests.databases.openDefault(), { folder: root })).toEqual({
    removed: 0,
    rewritten: 0,
  })
  expect(await readdir(folder)).toEqual(['saved.json'])
  // In its database, a file without a row is removed.
  expect(await sweepSnapshotFiles(tests.store, { folder: root })).toEqual({ removed: 1, rewritten: 0 })
})
