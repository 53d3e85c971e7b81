import { listPlacements } from '@heddle/store'
import { expect, test } from 'vitest'
import { PROJECT } from '../support.js'
import { contentsIn, Killed, killedIn, leftBehind, move, projectOfTests, rowsOf, write } from './two-databases.js'

const tests = projectOfTests()

test('a moved project is read and written where it is, by processes that had it elsewhere and by new ones', async () => {
  const rows = await rowsOf(tests.databases.sql.default)
  const done = await move(tests.databases)
  expect(done).toMatchObject({ state: 'done', from: 'default', to: 'b', version: 1 })
  expect(done.figures).toMatchObject({ rows, verified: rows, removed: rows, tries: 1 })
  await tests.expectMoved()
  expect(await listPlacements(tests.databases.addresses)).toMatchObject([
    { project: PROJECT, database: 'b', move: { from: 'default', to: 'b', state: 'done' } },
  ])
})

test('a move that has switched cannot be abandoned', async () => {
  await expect(move(tests.databases, killedIn('removing'))).rejects.toThrow(Killed)
  await expect(tests.abandon()).rejects.toMatchObject({ code: 'CONFLICT', field: 'abandon' })
  await move(tests.databases)
  await tests.expectMoved()
})

test('a database that holds the project is refused before anything is changed', async () => {
  const { b } = tests.databases.sql
  await b`insert into heddle.projects (project_id, name) values (${PROJECT}, 'store tests')`
  await expect(move(tests.databases)).rejects.toMatchObject({ code: 'CONFLICT', field: 'to' })
  expect(await leftBehind(tests.databases.sql.default)).toEqual([])
  await write(tests.store, ['four'])
})

test('a copy that differs is found, and the project stays', async () => {
  await expect(move(tests.databases, killedIn('verifying'))).rejects.toThrow(Killed)
  await tests.databases.sql.b`update heddle.messages set content = 'changed' where content = 'three'`
  await expect(move(tests.databases)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('messages'),
  })
  await write(tests.store, ['four'])
  await tests.abandon()
  expect(await contentsIn(tests.store)).toEqual(['one two', 'three', 'four'])
})
