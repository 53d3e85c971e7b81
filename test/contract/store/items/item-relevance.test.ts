import { selectionPresets } from '@heddle/contracts'
import { agentIdOf, projectIdOf, type TextEmbedder } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { createHashingEmbedder } from '@heddle/models'
import { loadAgentItems, relevantItems } from '@heddle/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshStore, type TestStore } from '../support.js'

const projectId = projectIdOf('items')
const QUERY = 'How do I authenticate?'

let database: TestStore
beforeAll(async () => {
  database = await freshStore()
})
afterAll(() => database.drop())

const clientOf = () => createClient({ store: database.store, queues: null, project: 'items' })

/** An embedder that records the number of texts of each call. */
function counting(embedder: TextEmbedder = createHashingEmbedder()) {
  const calls: number[] = []
  const counted: TextEmbedder = {
    ...embedder,
    embed(texts) {
      calls.push(texts.length)
      return embedder.embed(texts)
    },
  }
  return { calls, embedder: counted }
}

async function select(agent: string, embedder: TextEmbedder, query = QUERY) {
  const { store } = database
  const items = await store.inProject(projectId, (tx) => loadAgentItems(tx, { agentId: agentIdOf(projectId, agent) }))
  return await relevantItems({
    store,
    embedder,
    projectId,
    items,
    query,
    limits: { ...selectionPresets.normal, wordShare: 0, types: {} },
  })
}

test('the first selection embeds all items in one call, later ones only the query, and a changed item is embedded alone', async () => {
  const client = clientOf()
  const put = (at: number, text: string) =>
    client.items.put('many', { type: 'rule', name: `rule ${at}`, text, include: 'agent' })
  for (let at = 0; at < 100; at++) await put(at, `Rule number ${at} is about subject ${at * 7}.`)
  const { calls, embedder } = counting()
  await select('many', embedder)
  expect(calls).toEqual([100, 1])
  await select('many', embedder)
  expect(calls).toEqual([100, 1, 1])
  await put(7, 'Authenticate with a token.')
  const { selected } = await select('many', embedder)
  expect(calls).toEqual([100, 1, 1, 1, 1])
  expect(selected[0]?.item.name).toBe('rule 7')
})

test('items about the request are selected, and the others are left out with their score and the reason', async () => {
  const client = clientOf()
  await client.items.put('two', { type: 'rule', name: 'authentication', text: 'Authenticate each request.' })
  await client.items.put('two', { type: 'reference', name: 'error handling', text: 'Errors are typed.' })
  const { embedder } = counting()
  const first = await select('two', embedder)
  expect(first.selected.map(({ item }) => item.name)).toEqual(['authentication'])
  expect(first.leftOut).toMatchObject([
    { item: { name: 'error handling' }, reason: expect.stringMatching('not related') },
  ])
  const second = await select('two', embedder, "What's the error handling?")
  expect(second.selected.map(({ item }) => item.name)).toEqual(['error handling'])
})

test('vectors of other dimensions than the embedder declares are refused and not stored', async () => {
  await clientOf().items.put('wrong', { type: 'rule', name: 'a', text: 'b' })
  const { embedder } = counting()
  const wrong: TextEmbedder = { ...embedder, embed: async (texts) => texts.map(() => new Float32Array(3).fill(0.5)) }
  await expect(select('wrong', wrong)).rejects.toMatchObject({
    code: 'INTERNAL',
    message: expect.stringMatching('3 dimensions'),
  })
  const { calls, embedder: right } = counting()
  await select('wrong', right)
  expect(calls).toEqual([1, 1])
})
