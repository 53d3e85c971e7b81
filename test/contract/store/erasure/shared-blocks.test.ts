import { limits } from '@heddle/contracts'
import {
  beginErasure,
  continueErasure,
  finishContext,
  insertBlockGrant,
  insertBlockVersion,
  loadBlockGrant,
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
  /** When the owner was made. */
  readonly createdAtMs: number
}

/** A block of one agent that another one sees, and a context that was requested of a thread of that one. */
async function share(): Promise<Shared> {
  const [owner, reader] = [await freshThread(database.store), await freshThread(database.store)]
  const contextId = newId()
  const createdAtMs = await inProject(PROJECT, async (tx) => {
    const ref = { scope: 'agent', ownerId: owner.agentId, label: 'plan' } as const
    await lockNewBlock(tx, ref)
    const content = { value: 'secret', description: '', charactersMax: 100, readOnly: false, removed: false }
    await insertBlockVersion(tx, ref, { ...content, version: 1, change: 'put', requestId: null, writtenBy: null })
    const grant = { ownerId: owner.agentId, label: 'plan', granteeAgentId: reader.agentId }
    await insertBlockGrant(tx, grant, { version: 1, mode: 'read' })
    const { thread, threadId } = reader
    await requestContext(tx, { id: contextId, threadId, request: { thread }, deadlineAtMs: Date.now() + 9_000 })
    const [block] = await loadContextBlocks(tx, { agentId: reader.agentId, threadId, baseMs: 0, isRun: false })
    return block?.sharer?.createdAtMs ?? 0
  })
  return { owner, reader, contextId, createdAtMs }
}

const build = (tx: Tx, { owner, contextId, createdAtMs }: Shared, changed: object = {}) =>
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
    sharers: [{ agentId: owner.agentId, createdAtMs }],
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

  it('that was read before the owner was erased is not stored once another agent has its name', async () => {
    const shared = await share()
    const { agent } = shared.owner
    await inProject(PROJECT, (tx) => beginErasure(tx, agentTarget(shared.owner), { reuse: true }))
    await continueErasure(database.store, agentTarget(shared.owner))
    await freshThread(database.store, 3, agent)
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

describe('a grant that changed more often than its versions are kept', () => {
  const MODES = ['write', 'read', null] as const

  /** @returns the times of the first and the last version */
  async function changeOften({ owner, reader }: Shared, changes = 3 * limits.blockGrantVersionsMax) {
    const grant = { ownerId: owner.agentId, label: 'plan', granteeAgentId: reader.agentId }
    const versions = () =>
      inProject(PROJECT, (tx) => loadVersions(tx, { threadId: reader.threadId, lanes: ['sandwich'] }))
    const first = await inProject(PROJECT, (tx) => loadBlockGrant(tx, grant))
    const seen = new Set([await versions()])
    for (let version = 2; version <= changes; version++) {
      const mode = MODES[version % MODES.length] ?? null
      await inProject(PROJECT, (tx) => insertBlockGrant(tx, grant, { version, mode }))
      seen.add(await versions())
    }
    expect(seen.size).toBe(changes)
    const rows = await inProject(
      PROJECT,
      (tx) => tx<{ version: number; createdAtMs: number }[]>`
        select version, created_at as created_at_ms from heddle.memory_block_grants
        where grantee_agent_id = ${reader.agentId} order by version`,
    )
    const kept = Array.from({ length: limits.blockGrantVersionsMax }, (_, at) => changes - at).reverse()
    expect(rows.map(({ version }) => version)).toEqual([0, ...kept])
    expect(rows[0]?.createdAtMs).toBe(first?.createdAtMs)
    return { firstMs: first?.createdAtMs ?? 0, keptMs: rows[1]?.createdAtMs ?? 0 }
  }

  const shownAt = ({ reader: { agentId, threadId } }: Shared, baseMs: number) =>
    inProject(PROJECT, (tx) => loadContextBlocks(tx, { agentId, threadId, baseMs, isRun: false }))

  it('is another version to contexts with each change, also with two changes in one millisecond', async () => {
    const shared = await share()
    await changeOften(shared)
    const { agentId, threadId } = shared.reader
    const versions = () => inProject(PROJECT, (tx) => loadVersions(tx, { threadId, lanes: ['sandwich'] }))
    const before = await versions()
    // As many rows, and the same newest time.
    await inProject(
      PROJECT,
      (tx) => tx`
        with oldest as (
          delete from heddle.memory_block_grants as granted using (
            select owner_id, label, min(version) as version, max(version) + 1 as next, max(created_at) as created_at
            from heddle.memory_block_grants where grantee_agent_id = ${agentId} and version > 0 group by owner_id, label) as known
          where grantee_agent_id = ${agentId} and granted.version = known.version
          returning known.*)
        insert into heddle.memory_block_grants (grantee_agent_id, owner_id, label, version, mode, created_at)
        select ${agentId}, owner_id, label, next, 'read', created_at from oldest`,
    )
    expect(await versions()).not.toBe(before)
  })

  it('is as if it was made since, to a thread that was compacted before these versions', async () => {
    const shared = await share()
    const { firstMs } = await changeOften(shared, 3 * limits.blockGrantVersionsMax + 1)
    const [block] = await shownAt(shared, firstMs)
    expect(block).toMatchObject({ base: null, current: { value: 'secret', mode: 'read' } })
    expect((await shownAt(shared, Date.now()))[0]).toMatchObject({ base: { mode: 'read' } })
  })

  it('shows nothing of the block once it is revoked, whatever its first versions were', async () => {
    const shared = await share()
    const { firstMs } = await changeOften(shared, 3 * limits.blockGrantVersionsMax + 2)
    expect(await shownAt(shared, firstMs)).toEqual([])
  })

  it('has the time of its first version, from which contexts are erased with its owner', async () => {
    const shared = await share()
    await inProject(PROJECT, (tx) => build(tx, shared))
    await changeOften(shared)
    await erase(database.store, agentTarget(shared.owner))
    expect(await statusOf(shared)).toBe('failed')
  })
})
