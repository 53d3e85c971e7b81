import { createAssembler } from '@heddle/assemble'
import { limits } from '@heddle/contracts'
import { agentIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { createLogger, systemClock } from '@heddle/runtime'
import {
  beginErasure,
  continueErasure,
  countBlockGrants,
  insertBlockGrant,
  insertBlockVersion,
  loadContext,
  type NewBlockVersion,
  type Tx,
} from '@heddle/store'
import { expect, test } from 'vitest'
import { agentTarget, freshThread, heldTransaction, whenBlocked } from '../erasure/erasure-support.js'
import { heldBuilds } from '../held-builds.js'
import { newId, PROJECT, storeOfTests } from '../support.js'

const database = storeOfTests()
const clientOf = (store = database.store) => createClient({ store, queues: null, project: 'store tests' })

/** A block of one agent that another one sees and changes. */
async function share(value = 'before') {
  const [owner, reader] = [await freshThread(database.store), await freshThread(database.store)]
  const key = { scope: 'agent', owner: owner.agent, label: 'plan' } as const
  const client = clientOf()
  await client.blocks.put(key, { value })
  await client.blocks.grant(key, { to: reader.agent, mode: 'write' })
  const ref = { scope: 'agent', ownerId: owner.agentId, label: 'plan' } as const
  const grant = { ownerId: owner.agentId, label: 'plan', granteeAgentId: reader.agentId }
  const seen = { scope: 'agent', owner: reader.agent, label: `${owner.agent}/plan` } as const
  return { client, owner, reader, key, ref, grant, seen }
}

const edited: NewBlockVersion = {
  version: 2,
  value: 'after the grant ended',
  description: '',
  charactersMax: 5_000,
  readOnly: false,
  removed: false,
  change: 'rethink',
  requestId: null,
  writtenBy: null,
}

/** The last step of an erasure of an agent, before its commit. */
async function removeAgent(tx: Tx, agentId: string): Promise<void> {
  await tx`delete from heddle.memory_block_grants where grantee_agent_id = ${agentId}`
  await tx`delete from heddle.agents where id = ${agentId}`
}

test('a context that was read of an agent which was erased since is not stored, also if another one has its name', async () => {
  const { client, owner, reader, key } = await share('text of the erased agent')
  const build = heldBuilds(database.store)
  const log = createLogger({ level: 'silent', name: 'test' })
  const assembler = createAssembler({ store: build.store, settings: { rollingWindow: null }, clock: systemClock, log })
  const contextId = newId()
  const asked = { request: { thread: reader.thread }, deadlineAtMs: Date.now() + 60_000 }
  const job = { jobId: newId(), attempt: 1, attemptsMax: 3, signal: new AbortController().signal }
  const attempt = () => assembler({ ...job, payload: { projectId: PROJECT, contextId, asked } }, { publish: () => {} })
  const context = () => database.store.inProject(PROJECT, (tx) => loadContext(tx, { id: contextId }))

  const first = attempt()
  await build.whenRead
  await database.store.inProject(PROJECT, (tx) => beginErasure(tx, agentTarget(owner), { reuse: true }))
  await continueErasure(database.store, agentTarget(owner))
  await freshThread(database.store, 3, owner.agent)
  await client.blocks.put(key, { value: 'text of the new agent' })
  await client.blocks.grant(key, { to: reader.agent, mode: 'read' })
  build.goOn()
  await expect(first).rejects.toMatchObject({ name: 'RetryableError' })
  expect(await context()).toBeNull()

  await attempt()
  const shown = JSON.stringify((await context())?.result?.messages)
  expect(shown).toContain('text of the new agent')
  expect(shown).not.toContain('text of the erased agent')
})

test('a read beside a revocation shows nothing that was written after the grant had ended', async () => {
  const { client, ref, grant, seen } = await share()
  const revoked = await heldTransaction(database.store, async (tx) => {
    // Readers wait for the texts. The revocation and the edit become visible to them at once.
    await tx`lock table heddle.memory_block_versions in access exclusive mode`
    await insertBlockGrant(tx, grant, { version: 2, mode: null })
    await insertBlockVersion(tx, ref, edited)
  })
  const reads = Promise.allSettled([client.blocks.get(seen), client.blocks.history(seen)])
  await whenBlocked(database, 2)
  await revoked.commit()
  for (const read of await reads)
    expect(read).toMatchObject({ status: 'rejected', reason: { code: 'NOT_FOUND', field: 'block' } })
})

test('a revocation beside the erasure of the other agent finds no grant, and a removal of the block succeeds', async () => {
  const { client, owner, key } = await share()
  const changes = [
    { label: 'revoked', change: () => client.blocks.revoke({ ...key, label: 'revoked' }, { to: 'revoked reader' }) },
    { label: 'removed', change: () => client.blocks.remove({ ...key, label: 'removed' }) },
  ]
  const outcomes: PromiseSettledResult<unknown>[] = []
  for (const { label, change } of changes) {
    const reader = `${label} reader`
    await client.agents.put(reader, {})
    await client.blocks.put({ ...key, label }, { value: 'x' })
    await client.blocks.grant({ ...key, label }, { to: reader, mode: 'read' })
    const erasure = await heldTransaction(database.store, (tx) => removeAgent(tx, agentIdOf(PROJECT, reader)))
    const outcome = Promise.allSettled([change()])
    await whenBlocked(database)
    await erasure.commit()
    outcomes.push(...(await outcome))
  }
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { code: 'NOT_FOUND', field: 'grant' } },
    { status: 'fulfilled', value: { owner: owner.agent, label: 'removed', change: 'remove' } },
  ])
})

test('grants to one agent at one moment do not exceed its limit together', async () => {
  const { client, reader, grant } = await share()
  const others = [await freshThread(database.store), await freshThread(database.store)]
  // With the block of `share`, all but one that may be shared with the agent.
  await database.store.inProject(PROJECT, async (tx) => {
    for (const [index, { agentId }] of others.entries()) {
      await tx`
        insert into heddle.memory_blocks (agent_id, label, version)
        select ${agentId}, 'block ' || number, 1 from generate_series(1, 50) as number`
      await tx`
        insert into heddle.memory_block_grants (grantee_agent_id, owner_id, label, version, mode)
        select ${grant.granteeAgentId}, ${agentId}, 'block ' || number, 1, 'read'
        from generate_series(1, ${index === 0 ? 50 : limits.blockGrantsMax - 52}) as number`
    }
  })
  const last = await heldTransaction(database.store, async (tx) => {
    const ref = { ...grant, ownerId: others[1]?.agentId ?? '', label: 'block 50' }
    expect(await countBlockGrants(tx, ref)).toEqual({ ofBlock: 0, toAgent: limits.blockGrantsMax - 1 })
    await insertBlockGrant(tx, ref, { version: 1, mode: 'read' })
  })
  const { agent } = await freshThread(database.store)
  const key = { scope: 'agent', owner: agent, label: 'plan' } as const
  await client.blocks.put(key, { value: 'one too many' })
  const refused = Promise.allSettled([client.blocks.grant(key, { to: reader.agent, mode: 'read' })])
  await whenBlocked(database)
  await last.commit()
  expect(await refused).toMatchObject([
    { status: 'rejected', reason: { code: 'VALIDATION_ERROR', field: 'to', received: JSON.stringify(reader.agent) } },
  ])
})

test('put creates no block under the name of one that another agent could share', async () => {
  const { client, key, seen, reader } = await share()
  await client.blocks.revoke(key, { to: reader.agent })
  for (const label of [seen.label, 'nobody/plan'])
    await expect(client.blocks.put({ ...seen, label }, { value: 'x' })).rejects.toMatchObject({
      ...{ code: 'VALIDATION_ERROR', field: 'label', received: JSON.stringify(label) },
      message: expect.stringContaining('must have no slash in the name of a new block'),
    })
  await expect(client.blocks.insert(seen, { text: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'block' })
})
