import {
  beginErasure,
  continueErasure,
  finishContext,
  insertBlockGrant,
  insertBlockVersion,
  loadContext,
  loadContextBlocks,
  loadVersions,
  lockNewBlock,
  requestContext,
  type Tx,
} from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { newId, PROJECT, storeOfTests, type TestStore } from '../support.js'
import { agentTarget, erase, freshThread, heldTransaction, type TestThread, whenBlocked } from './erasure-support.js'

const database = storeOfTests()

const inProject: TestStore['store']['inProject'] = (projectId, work) => database.store.inProject(projectId, work)

const receipt = {
  stateId: null,
  agentVersion: 1,
  headSeq: 3,
  entries: [],
  sections: [{ name: 'blocks', tokens: 3, count: 1 }],
}

interface Shared {
  readonly owner: TestThread
  readonly reader: TestThread
  readonly contextId: string
}

/** A block of one agent that another one sees, and a context that was requested of a thread of that one. */
async function share(): Promise<Shared> {
  const [owner, reader] = [await freshThread(database.store), await freshThread(database.store)]
  const contextId = newId()
  await inProject(PROJECT, async (tx) => {
    const ref = { scope: 'agent', ownerId: owner.agentId, label: 'plan' } as const
    await lockNewBlock(tx, ref)
    const content = { value: 'secret', description: '', charactersMax: 100, readOnly: false, removed: false }
    await insertBlockVersion(tx, ref, { ...content, version: 1, change: 'put', requestId: null, writtenBy: null })
    const grant = { ownerId: owner.agentId, label: 'plan', granteeAgentId: reader.agentId }
    await insertBlockGrant(tx, grant, { version: 1, mode: 'read' })
    const { thread, threadId } = reader
    await requestContext(tx, { id: contextId, threadId, request: { thread }, deadlineAtMs: Date.now() + 9_000 })
  })
  return { owner, reader, contextId }
}

const build = (tx: Tx, { owner, contextId }: Shared, changed: object = {}) =>
  finishContext(tx, {
    id: contextId,
    result: {
      id: contextId,
      messages: [],
      tokensUsed: 3,
      budget: 9,
      summaryUsed: false,
      receipt: { ...receipt, ...changed },
    } as never,
    sharerIds: [owner.agentId],
  })

const statusOf = async ({ contextId }: Shared) =>
  (await inProject(PROJECT, (tx) => loadContext(tx, { id: contextId })))?.status

const shownTo = (tx: Tx, { reader }: Shared) =>
  loadContextBlocks(tx, { agentId: reader.agentId, threadId: reader.threadId, baseMs: 0, isRun: false })

describe('a context that shows a block of another agent', () => {
  it('that is stored before the owner is erased is erased with it, and those of other agents stay', async () => {
    const [shared, other] = [await share(), await share()]
    for (const each of [shared, other]) expect(await inProject(PROJECT, (tx) => build(tx, each))).toBe(true)
    await erase(database.store, agentTarget(shared.owner))
    expect(await statusOf(shared)).toBe('failed')
    expect(await statusOf(other)).toBe('built')
  })

  it('that did not fit, and is named by the receipt alone, is erased too; a context without blocks stays', async () => {
    const [named, without] = [await share(), await share()]
    const block = { scope: 'agent', label: 'planner/plan', version: 1, sharedBy: 'planner' }
    const sections = [{ name: 'blocks', tokens: 0, count: 0 }]
    const entries = [{ section: 'blocks', mode: 'left-out', tokens: 0, count: 1, block }]
    await inProject(PROJECT, (tx) => build(tx, named, { sections, entries }))
    await inProject(PROJECT, (tx) => build(tx, without, { sections }))
    for (const { owner } of [named, without]) await erase(database.store, agentTarget(owner))
    expect(await statusOf(named)).toBe('failed')
    expect(await statusOf(without)).toBe('built')
  })

  it('that is uncommitted when the erasure begins is waited for and erased', async () => {
    const shared = await share()
    const held = await heldTransaction(database.store, (tx) => build(tx, shared))
    const erased = erase(database.store, agentTarget(shared.owner))
    await whenBlocked(database)
    await held.commit()
    await erased
    expect(await statusOf(shared)).toBe('failed')
  })

  it('that is stored while the tombstone is inserted is erased', async () => {
    const shared = await share()
    const held = await heldTransaction(database.store, (tx) => beginErasure(tx, agentTarget(shared.owner)))
    await inProject(PROJECT, (tx) => build(tx, shared))
    await held.commit()
    await continueErasure(database.store, agentTarget(shared.owner))
    expect(await statusOf(shared)).toBe('failed')
  })

  it('that was read before the erasure began is not stored after it, but built again', async () => {
    const shared = await share()
    await inProject(PROJECT, (tx) => beginErasure(tx, agentTarget(shared.owner)))
    await expect(inProject(PROJECT, (tx) => build(tx, shared))).rejects.toMatchObject({ name: 'RetryableError' })
    await continueErasure(database.store, agentTarget(shared.owner))
    await expect(inProject(PROJECT, (tx) => build(tx, shared))).rejects.toMatchObject({ name: 'RetryableError' })
    expect(await statusOf(shared)).toBe('requested')
  })

  it('is not current any more from the tombstone on, and shows the block no longer', async () => {
    const shared = await share()
    const { threadId } = shared.reader
    const versions = () => inProject(PROJECT, (tx) => loadVersions(tx, { threadId, lanes: ['sandwich'] }))
    expect(await inProject(PROJECT, (tx) => shownTo(tx, shared))).toHaveLength(1)
    const before = await versions()
    await inProject(PROJECT, (tx) => beginErasure(tx, agentTarget(shared.owner)))
    expect(await inProject(PROJECT, (tx) => shownTo(tx, shared))).toEqual([])
    expect(await versions()).not.toBe(before)
  })
})

it('contexts depend on each change of a grant and of a shared block', async () => {
  const shared = await share()
  const { owner, reader } = shared
  const versions = () =>
    inProject(PROJECT, (tx) => loadVersions(tx, { threadId: reader.threadId, lanes: ['sandwich'] }))
  const seen = new Set([await versions()])
  const grant = { ownerId: owner.agentId, label: 'plan', granteeAgentId: reader.agentId }
  for (const [version, mode] of [
    [2, 'write'],
    [3, null],
    [4, 'read'],
  ] as const) {
    await inProject(PROJECT, (tx) => insertBlockGrant(tx, grant, { version, mode }))
    seen.add(await versions())
  }
  const ref = { scope: 'agent', ownerId: owner.agentId, label: 'plan' } as const
  const content = { value: 'changed', description: '', charactersMax: 100, readOnly: false, removed: false }
  await inProject(PROJECT, (tx) =>
    insertBlockVersion(tx, ref, { ...content, version: 2, change: 'put', requestId: null, writtenBy: null }),
  )
  seen.add(await versions())
  expect(seen.size).toBe(5)
})
