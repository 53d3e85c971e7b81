import { createHash } from 'node:crypto'
import type { ContextResult } from '@heddle/contracts'
import { applyPatch } from '@heddle/core'
import { beginMessageErasure, continueErasure, loadContext, packLines, type Store } from '@heddle/store'
import { expect, test } from 'vitest'
import { workerOn } from './assembling.js'
import { asOwner, freshThread } from './erasure/erasure-support.js'
import { heldBuilds } from './held-builds.js'
import { append, appendOne, newId, PROJECT, prepared, storeOfTests } from './support.js'

const database = storeOfTests()

test('a worker whose context another one stored first sends no differences from its own version of it', async () => {
  const { store } = database
  const { request, grow } = await threadOf(store)
  const slow = heldBuilds(store)
  const [winner, late] = [workerOn(store), workerOn(slow.store)]
  const [shared, next, last] = [newId(), newId(), newId()]

  const losing = late({ contextId: shared, request })
  await slow.whenRead
  await grow(2)
  expect(await winner({ contextId: shared, request })).toEqual(await stored(shared))
  slow.goOn()
  expect(await losing).toBeUndefined()
  await grow(1)
  expect(await late({ contextId: next, request, baseId: shared })).toEqual(await stored(next))

  const { patch } = await winner({ contextId: last, request, baseId: shared })
  const received = await stored(shared)
  expect(applyPatch(patch, received as ContextResult)).toEqual(await stored(last))
})

test('a requester without an earlier context gets the whole one, with the digest that earlier readers check', async () => {
  const { store, url } = database
  const { request, grow } = await threadOf(store)
  const worker = workerOn(store)
  const [first, second, third] = [newId(), newId(), newId()]
  const whole = [await worker({ contextId: first, request })]
  await grow(1)
  whole.push(await worker({ contextId: second, request }))
  await grow(1)
  const { patch } = await worker({ contextId: third, request, baseId: second })
  expect(await digestsOf(url, first)).toEqual({ digest: digestOf(whole[0]), elementDigest: null })
  expect(await digestsOf(url, second)).toEqual({ digest: digestOf(whole[1]), elementDigest: null })
  // Earlier readers skip the check of a context without this digest.
  expect(await digestsOf(url, third)).toEqual({ digest: null, elementDigest: patch.digest })
})

test('erasing a message leaves no digest of a context that showed it', async () => {
  const { store, url } = database
  const { request, grow, erase } = await threadOf(store)
  const worker = workerOn(store)
  const [first, second] = [newId(), newId()]
  await worker({ contextId: first, request })
  await grow(1)
  await worker({ contextId: second, request, baseId: first })
  await erase(2)
  expect(await digestsOf(url, second)).toEqual({ digest: null, elementDigest: null })
})

test('a stored context is compared with the digest of its elements, and damaged lines are not reported as erased', async () => {
  const { store, url } = database
  const { request, grow } = await threadOf(store)
  const worker = workerOn(store)
  const [first, second] = [newId(), newId()]
  await worker({ contextId: first, request })
  await grow(1)
  await worker({ contextId: second, request, baseId: first })
  expect((await stored(second))?.id).toBe(second)
  await asOwner(url, (sql) => sql`update heddle.contexts set element_digest = '\\x00' where id = ${second}`)
  await expect(stored(second)).rejects.toMatchObject({ code: 'INTERNAL' })
  const head = JSON.stringify({ messages: 3, tools: 0, items: 0, receipt: { entries: 0 } })
  const { delta } = packLines(second, { head, lines: ['{}'], hidden: [] }, null)
  await asOwner(url, (sql) => sql`update heddle.context_lines set delta = ${delta} where id = ${second}`)
  await expect(stored(second)).rejects.toMatchObject({
    code: 'INTERNAL',
    cause: expect.objectContaining({ message: expect.stringContaining('1 lines') }),
  })
})

async function threadOf(store: Store) {
  const { agent, thread, threadId } = await freshThread(store, 6)
  const grow = (count: number) =>
    appendOne(
      store,
      append(
        Array.from({ length: count }, () => prepared()),
        { agent, thread },
      ),
    )
  const erase = async (seq: number) => {
    const target = { projectId: PROJECT, kind: 'messages' as const, targetId: newId() }
    const range = { fromSeq: seq, toSeq: seq }
    await store.inProject(PROJECT, (tx) => beginMessageErasure(tx, { erasureId: target.targetId, threadId, range }))
    await continueErasure(store, target)
  }
  return { request: { thread }, grow, erase }
}

/** As later readers get it: rebuilt from its lines. */
async function stored(id: string): Promise<ContextResult | null | undefined> {
  return (await database.store.inProject(PROJECT, (tx) => loadContext(tx, { id, rebuild: true })))?.result
}

function digestsOf(url: string, id: string) {
  return asOwner(url, async (sql) => {
    const [row] = await sql<{ digest: string | null; elementDigest: string | null }[]>`
      select encode(digest, 'hex') as digest, encode(element_digest, 'hex') as "elementDigest"
      from heddle.contexts where id = ${id}`
    return row
  })
}

const digestOf = (result: object) => createHash('sha256').update(JSON.stringify(result)).digest('hex').slice(0, 32)
