import { abandonMove, type MoveState, type Store } from '@heddle/store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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

const states: MoveState[] = ['copying', 'catching-up', 'verifying', 'switching', 'removing']

describe.each(states)('a process that is killed in the state %s', (state) => {
  test('leaves a project that is read and written, and a move that another process finishes', async () => {
    await expect(move(databases, killedIn(state))).rejects.toThrow(Killed)
    await write(store, ['meanwhile'])
    await write(databases.open(), ['and again'])
    await move(databases)
    expect(await contentsIn(store)).toEqual(['one two', 'three', 'meanwhile', 'and again'])
    expect(await rowsOf(databases.sql.default)).toBe(0)
    expect(await leftBehind(databases.sql.default)).toEqual([])
  })

  test('before it could say what it has done, does not do it twice', async () => {
    const next = states[states.indexOf(state) + 1] ?? 'done'
    await expect(move(databases, killedIn(next))).rejects.toThrow(Killed)
    await databases.sql.default`update heddle_placement.moves set state = ${state}`
    await write(store, ['meanwhile'])
    await move(databases)
    expect(await contentsIn(databases.open())).toEqual(['one two', 'three', 'meanwhile'])
    expect(await rowsOf(databases.sql.default)).toBe(0)
  })
})

describe.each(states.slice(0, -1))('a move that is abandoned in the state %s', (state) => {
  test('leaves the project where it was, and no copy', async () => {
    await expect(move(databases, killedIn(state))).rejects.toThrow(Killed)
    await write(store, ['meanwhile'])
    expect(await abandon()).toMatchObject({ state: 'abandoned' })
    await write(databases.open(), ['later'])
    expect(await contentsIn(store)).toEqual(['one two', 'three', 'meanwhile', 'later'])
    expect(await rowsOf(databases.sql.b)).toBe(0)
    expect(await leftBehind(databases.sql.default)).toEqual([])
    expect(await move(databases)).toMatchObject({ state: 'done', to: 'b' })
    expect(await contentsIn(store)).toEqual(['one two', 'three', 'meanwhile', 'later'])
  })
})
