import { PermanentError } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { GROUP_MESSAGES_MAX, GroupCommit, SECOND_GROUP_APPENDS_MIN } from './group-commit.js'
import type { PreparedAppend } from './prepare.js'

function append(requestId: string, messages = 1, characters = 10, thread = 't'): PreparedAppend {
  return {
    requestId,
    agent: 'a',
    thread,
    characters,
    messages: Array.from({ length: messages }) as PreparedAppend['messages'],
  }
}

const stored = (appends: readonly PreparedAppend[]) =>
  appends.map(({ requestId }) => ({
    requestId,
    threadId: 't',
    stored: 1,
    repeated: 0,
    fromSeq: 1,
    headSeq: 1,
    tokensEstimate: 1,
    error: null,
  }))

/** A database stub that records its groups, and rejects those for which `faultOf` returns an error. */
function database(faultOf: (ids: readonly string[]) => Error | null = () => null) {
  const groups: string[][] = []
  const commits = new GroupCommit(async (_projectId, appends) => {
    const ids = appends.map(({ requestId }) => requestId)
    groups.push(ids)
    const fault = faultOf(ids)
    if (fault) throw fault
    return stored(appends)
  })
  return { groups, commits }
}

test('appends of different projects do not share a transaction', async () => {
  const { groups, commits } = database()
  await Promise.all([commits.add('p', append('a')), commits.add('q', append('b'))])
  expect(groups).toEqual([['a'], ['b']])
})

test('a group is limited by messages and characters, and a larger append is committed alone', async () => {
  const { groups, commits } = database()
  const sizes = [
    append('a', GROUP_MESSAGES_MAX),
    append('b', 1),
    append('c', 1, 15_000_000),
    append('d', 1, 15_000_000),
  ]
  await Promise.all(sizes.map((one) => commits.add('p', one)))
  for (const group of groups) expect(group).not.toEqual(expect.arrayContaining(['c', 'd']))
  expect(groups.flat().sort()).toEqual(['a', 'b', 'c', 'd'])
  expect(groups[0]).toEqual(['a'])
})

test('an append that the database rejects does not fail the others', async () => {
  const fault = new PermanentError('VALIDATION_ERROR', 'refused')
  const { commits } = database((ids) => (ids.includes('bad') ? fault : null))
  const ends = await Promise.allSettled(['good', 'bad', 'also good'].map((id) => commits.add('p', append(id))))
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('two groups commit at once but never share a thread, so its appends keep their order', async () => {
  const open: { ids: string[]; end: () => void }[] = []
  const commits = new GroupCommit(async (_projectId, appends) => {
    await new Promise<void>((end) => open.push({ ids: appends.map(({ requestId }) => requestId), end }))
    return stored(appends)
  })
  const large = (id: string, thread: string) => commits.add('p', append(id, GROUP_MESSAGES_MAX, 10, thread))
  const ends = Promise.all([large('a1', 'a'), large('a2', 'a'), large('b1', 'b'), large('b2', 'b'), large('c1', 'c')])
  const underWay = () => open.map(({ ids }) => ids.join())
  await expect.poll(underWay).toEqual(['a1', 'b1'])
  open.shift()?.end()
  await expect.poll(underWay).toEqual(['b1', 'a2'])
  open.shift()?.end()
  await expect.poll(underWay).toEqual(['a2', 'b2'])
  open.shift()?.end()
  await expect.poll(underWay).toEqual(['b2', 'c1'])
  for (const { end } of open.splice(0)) end()
  await ends
})

function slowDatabase() {
  const open: { ids: string[]; end: () => void }[] = []
  const commits = new GroupCommit(async (_projectId, appends) => {
    await new Promise<void>((end) => open.push({ ids: appends.map(({ requestId }) => requestId), end }))
    return stored(appends)
  })
  return { open, commits, turn: () => new Promise((resolve) => setImmediate(resolve)) }
}

test('many small appends start a second group beside a running one', async () => {
  const { open, commits, turn } = slowDatabase()
  const small = (index: number) => commits.add('p', append(`${index}`, 1, 10, `t${index}`))
  const ends = [small(0)]
  await turn()
  for (let index = 1; index < SECOND_GROUP_APPENDS_MIN; index++) ends.push(small(index))
  await turn()
  expect(open.map(({ ids }) => ids.length)).toEqual([1])
  ends.push(small(SECOND_GROUP_APPENDS_MIN))
  await turn()
  expect(open.map(({ ids }) => ids.length)).toEqual([1, SECOND_GROUP_APPENDS_MIN])
  for (const { end } of open.splice(0)) end()
  await Promise.all(ends)
})
