import { randomUUID } from 'node:crypto'
import { agentIdOf } from '@heddle/core'
import { createHashingEmbedder, type Embedder } from '@heddle/models'
import { embedItems, loadItemVectors, removeItems } from '@heddle/store'
import { beforeAll, expect, test } from 'vitest'
import { append, appendOne, freshStore, OTHER_PROJECT, PROJECT, prepared, type TestStore } from '../support.js'

let database: TestStore
const agentId = agentIdOf(PROJECT, 'of items')
beforeAll(async () => {
  database = await freshStore()
  await appendOne(database.store, append([prepared()], { agent: 'of items' }))
  return database.drop
})

/** Records the texts of each call. */
function recordingEmbedder(model = 'm'): Embedder & { calls: (readonly string[])[] } {
  const inner = createHashingEmbedder()
  const calls: (readonly string[])[] = []
  const embed = (texts: readonly string[]) => {
    calls.push(texts)
    return inner.embed(texts)
  }
  return { ...inner, model, calls, embed }
}

/** Items of an agent, with the fields that their vectors depend on. */
async function newItems(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  await database.store.inProject(PROJECT, async (tx) => {
    for (const id of ids) {
      await tx`insert into heddle.items (id, agent_id, type, name) values (${id}, ${agentId}, 'rule', ${id})`
      await tx`insert into heddle.item_versions (item_id, version, content_hash) values (${id}, 1, '')`
    }
  })
  return ids
}

const paragraph = (word: string) => `${`The ${word} is looked after with care. `.repeat(11).trim()}`

test('items are embedded in one call, and not a second time', async () => {
  const ids = await newItems(100)
  const items = ids.map((itemId, index) => ({ itemId, text: `rule ${index}\n\nAlways write test number ${index}.` }))
  const embedder = recordingEmbedder()
  const options = { store: database.store, embedder, projectId: PROJECT, items }
  const first = await embedItems(options)
  expect(embedder.calls.map((texts) => texts.length)).toEqual([100])
  expect(first.items.map(({ itemId }) => itemId)).toEqual(ids)
  const second = await embedItems(options)
  expect(second.embeddedTexts).toBe(0)
  expect(embedder.calls.length).toBe(1)
  expect(second.items).toEqual(first.items)
  const stored = await database.store.inProject(PROJECT, (tx) => loadItemVectors(tx, { model: 'm', itemIds: ids }))
  expect(stored.length).toBe(100)
  expect(stored.every(({ places, vectors }) => vectors.length === places.length * 384)).toBe(true)
})

test('only a changed item is embedded again, and only its new texts', async () => {
  const [changed = '', same = ''] = await newItems(2)
  const embedder = recordingEmbedder()
  const embed = (text: string) =>
    embedItems({
      store: database.store,
      embedder,
      projectId: PROJECT,
      items: [
        { itemId: changed, text },
        { itemId: same, text: 'stays' },
      ],
    })
  const before = await embed(`${paragraph('garden')}\n\n${paragraph('house')}`)
  const after = await embed(`${paragraph('garden')}\n\n${paragraph('workshop')}`)
  expect(embedder.calls.map((texts) => texts.length)).toEqual([3, 1])
  expect(embedder.calls[1]).toEqual([paragraph('workshop')])
  const [left, right] = [before.items[0]?.vectors, after.items[0]?.vectors]
  expect(right?.slice(0, 384)).toEqual(left?.slice(0, 384))
  expect(right?.slice(384)).not.toEqual(left?.slice(384))
  expect(after.items[1]).toEqual(before.items[1])
})

test('after a change of model items are embedded again, and an item without a text has no vectors', async () => {
  const [itemId = ''] = await newItems(1)
  const embed = (model: string, text: string) => {
    const embedder = recordingEmbedder(model)
    return embedItems({ store: database.store, embedder, projectId: PROJECT, items: [{ itemId, text }] })
  }
  expect((await embed('one', 'text')).embeddedTexts).toBe(1)
  expect((await embed('two', 'text')).embeddedTexts).toBe(1)
  const load = (model: string) =>
    database.store.inProject(PROJECT, (tx) => loadItemVectors(tx, { model, itemIds: [itemId] }))
  expect(await load('one')).toEqual([])
  expect((await load('two')).length).toBe(1)
  expect(await embed('two', ' ')).toEqual({
    embeddedTexts: 0,
    items: [{ itemId, places: [], vectors: new Int8Array() }],
  })
})

test('a failing embedder leaves the stored vectors, and the vectors of an item are deleted with it', async () => {
  const [itemId = ''] = await newItems(1)
  const embedder = recordingEmbedder()
  const options = { store: database.store, embedder, projectId: PROJECT, items: [{ itemId, text: 'text' }] }
  await embedItems(options)
  const failing = { ...embedder, embed: () => Promise.reject(new Error('down')) }
  await expect(embedItems({ ...options, embedder: failing, items: [{ itemId, text: 'new' }] })).rejects.toThrow('down')
  expect((await embedItems(options)).embeddedTexts).toBe(0)

  const load = (projectId: string) =>
    database.store.inProject(projectId, (tx) => loadItemVectors(tx, { model: 'm', itemIds: [itemId] }))
  expect(await load(OTHER_PROJECT)).toEqual([])
  expect((await load(PROJECT)).length).toBe(1)
  await database.store.inProject(PROJECT, (tx) => removeItems(tx, { agentId, itemIds: [itemId] }))
  expect(await load(PROJECT)).toEqual([])
  await database.store.inProject(PROJECT, (tx) => tx`delete from heddle.items where id = ${itemId}`)
  expect(await load(PROJECT)).toEqual([])
  // An item that was erased while it was embedded gets no vectors either.
  await embedItems(options)
  expect(await load(PROJECT)).toEqual([])
})
