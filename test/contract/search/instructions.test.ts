import { projectIdOf, threadIdOf } from '@heddle/core'
import { loadInstructionPlaces } from '@heddle/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshStore, prepared, type TestStore } from '../store/support.js'
import { clientOn, PROJECT_NAME, said } from './support.js'

let database: TestStore

beforeAll(async () => {
  database = await freshStore()
  await said(database, { thread: 'style' }, [
    prepared({ content: 'Fix the tests of the parser. Always run the tests with coverage.', sourceId: 'always' }),
    prepared({ role: 'assistant', content: 'I will always run the tests. Always run the tests!', sourceId: 'reply' }),
    prepared({ content: 'The tests of the parser are slow.', sourceId: 'plain' }),
    prepared({ role: 'assistant', content: 'I prefer small tests.', metadata: { name: 'Ann' }, sourceId: 'ann' }),
  ])
  await said(database, { agent: 'other', thread: 'elsewhere' }, [
    prepared({ content: 'Never skip the tests.', sourceId: 'never' }),
  ])
})
afterAll(() => database.drop())

const ids = async (conditions: object) => {
  const { items } = await clientOn(database).search({ query: 'run the tests', by: 'words', ...conditions })
  return items.map(({ sourceId }) => sourceId).sort()
}

describe('a search for lasting instructions', () => {
  it('finds what people said, in the threads of an agent or in all', async () => {
    expect(await ids({ instructions: true })).toEqual(['always', 'ann', 'never'])
    expect(await ids({ instructions: true, agent: 'weaver' })).toEqual(['always', 'ann'])
    expect(await ids({ instructions: true, thread: 'elsewhere' })).toEqual(['never'])
  })

  it('can be combined with other filters, and is off by default', async () => {
    expect(await ids({ instructions: true, kinds: ['user'] })).toEqual(['always', 'never'])
    expect(await ids({ instructions: false })).toHaveLength(5)
    expect(await ids({})).toHaveLength(5)
  })
})

describe('the places of lasting instructions', () => {
  it('are of the wanted threads, however many the later threads have', async () => {
    const many = Array.from({ length: 510 }, (_, index) => prepared({ content: `Always run suite ${index}.` }))
    await said(database, { thread: 'chatty' }, many)
    const projectId = projectIdOf(PROJECT_NAME)
    const [style, chatty] = ['style', 'chatty'].map((name) => threadIdOf(projectId, name))
    const places = (threadIds: readonly string[] | null) =>
      database.store.inProject(projectId, (tx) => loadInstructionPlaces(tx, { agentId: null, threadIds }))
    expect(new Set((await places(null)).map(({ threadId }) => threadId))).toEqual(new Set([chatty]))
    expect(await places([style ?? ''])).toEqual([
      { threadId: style, seq: 4 },
      { threadId: style, seq: 1 },
    ])
    expect(await places([])).toEqual([])
  })

  it('are followed by those of messages that take one back, if these are wanted', async () => {
    await said(database, { agent: 'other', thread: 'elsewhere' }, [
      prepared({ content: 'You may skip the tests again.' }),
      prepared({ role: 'assistant', content: 'You may skip the tests again.' }),
    ])
    const projectId = projectIdOf(PROJECT_NAME)
    const threadIds = [threadIdOf(projectId, 'elsewhere')]
    const seqs = (endings: boolean) =>
      database.store.inProject(projectId, async (tx) =>
        (await loadInstructionPlaces(tx, { agentId: null, threadIds, endings })).map(({ seq }) => seq),
      )
    expect(await seqs(false)).toEqual([1])
    expect(await seqs(true)).toEqual([1, 2])
  })
})
