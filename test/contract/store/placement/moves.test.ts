import { abandonMove, listPlacements, type Store } from '@heddle/store'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PROJECT } from '../support.js'
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

test('a moved project is read and written where it is, by processes that had it elsewhere and by new ones', async () => {
  const rows = await rowsOf(databases.sql.default)
  const done = await move(databases)
  expect(done).toMatchObject({ state: 'done', from: 'default', to: 'b', version: 1 })
  expect(done.figures).toMatchObject({ rows, verified: rows, removed: rows, tries: 1 })
  await expectMoved()
  expect(await listPlacements(databases.addresses)).toMatchObject([
    { project: PROJECT, database: 'b', move: { from: 'default', to: 'b', state: 'done' } },
  ])
})

test('a move that has switched cannot be abandoned', async () => {
  await expect(move(databases, killedIn('removing'))).rejects.toThrow(Killed)
  await expect(abandon()).rejects.toMatchObject({ code: 'CONFLICT', field: 'abandon' })
  await move(databases)
  await expectMoved()
})

test('a database that holds the project is refused before anything is changed', async () => {
  const { b } = databases.sql
  await b`insert into heddle.projects (project_id, name) values (${PROJECT}, 'store tests')`
  await expect(move(databases)).rejects.toMatchObject({ code: 'CONFLICT', field: 'to' })
  expect(await leftBehind(databases.sql.default)).toEqual([])
  await write(store, ['four'])
})

test('a copy that differs is found, and the project stays', async () => {
  await expect(move(databases, killedIn('verifying'))).rejects.toThrow(Killed)
  await databases.sql.b`update heddle.messages set content = 'changed' where content = 'three'`
  await expect(move(databases)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('messages'),
  })
  await write(store, ['four'])
  await abandon()
  expect(await contentsIn(store)).toEqual(['one two', 'three', 'four'])
})
