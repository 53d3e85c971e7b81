import type { MoveState } from '@heddle/store'
import { describe, expect, test } from 'vitest'
import { contentsIn, Killed, killedIn, leftBehind, move, projectOfTests, rowsOf, write } from './two-databases.js'

const tests = projectOfTests()

const states: MoveState[] = ['copying', 'catching-up', 'verifying', 'switching', 'removing']

describe.each(states)('a process that is killed in the state %s', (state) => {
  test('leaves a project that is read and written, and a move that another process finishes', async () => {
    await expect(move(tests.databases, killedIn(state))).rejects.toThrow(Killed)
    await write(tests.store, ['meanwhile'])
    await write(tests.databases.open(), ['and again'])
    await move(tests.databases)
    expect(await contentsIn(tests.store)).toEqual(['one two', 'three', 'meanwhile', 'and again'])
    expect(await rowsOf(tests.databases.sql.default)).toBe(0)
    expect(await leftBehind(tests.databases.sql.default)).toEqual([])
  })

  test('before it could say what it has done, does not do it twice', async () => {
    const next = states[states.indexOf(state) + 1] ?? 'done'
    await expect(move(tests.databases, killedIn(next))).rejects.toThrow(Killed)
    await tests.databases.sql.default`update heddle_placement.moves set state = ${state}`
    await write(tests.store, ['meanwhile'])
    await move(tests.databases)
    expect(await contentsIn(tests.databases.open())).toEqual(['one two', 'three', 'meanwhile'])
    expect(await rowsOf(tests.databases.sql.default)).toBe(0)
  })
})

describe.each(states.slice(0, -1))('a move that is abandoned in the state %s', (state) => {
  test('leaves the project where it was, and no copy', async () => {
    await expect(move(tests.databases, killedIn(state))).rejects.toThrow(Killed)
    await write(tests.store, ['meanwhile'])
    expect(await tests.abandon()).toMatchObject({ state: 'abandoned' })
    await write(tests.databases.open(), ['later'])
    expect(await contentsIn(tests.store)).toEqual(['one two', 'three', 'meanwhile', 'later'])
    expect(await rowsOf(tests.databases.sql.b)).toBe(0)
    expect(await leftBehind(tests.databases.sql.default)).toEqual([])
    expect(await move(tests.databases)).toMatchObject({ state: 'done', to: 'b' })
    expect(await contentsIn(tests.store)).toEqual(['one two', 'three', 'meanwhile', 'later'])
  })
})
