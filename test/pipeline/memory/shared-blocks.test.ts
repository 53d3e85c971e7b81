import { randomUUID } from 'node:crypto'
import type { Client } from '@heddle/client/interface'
import type { BlockKey } from '@heddle/contracts'
import { agentIdOf, projectIdOf } from '@heddle/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchDatabase } from '../canaries.js'
import { modes, openPipeline, type Pipeline } from '../support.js'
import { currentIn, history, sectionsOf } from './blocks-support.js'

/** The requests of writers that are refused and try again grow with the square of this. */
const WRITERS = 24
const [OWNER, OTHER] = ['planner', 'coder']
const PLAN = { scope: 'agent', owner: OWNER, label: 'plan' } as const
/** The same block as the other agent sees it. */
const SHARED: BlockKey = { scope: 'agent', owner: OTHER, label: `${OWNER}/plan` }
const thread = 'work'

describe.each(modes())('memory blocks that agents share on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('with a block of the planner', () => {
    let pipeline: Pipeline
    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start()
    })
    afterAll(() => pipeline?.close())

    /** A project with two agents, a block of the first, and a thread of the second. */
    async function begin(project: string, value = 'one'): Promise<Client> {
      const client = pipeline.clientOf(project)
      for (const agent of [OWNER, OTHER]) await client.agents.put(agent, { settings: { rollingWindow: null } })
      await client.blocks.put(PLAN, { value, limit: 20_000, description: 'what to do' })
      await say(client)
      return client
    }

    async function say(client: Client): Promise<void> {
      const messages = Array.from({ length: 40 }, (_, turn) => [
        { role: 'user' as const, content: `question ${turn}: ${'why does it fail '.repeat(40)}` },
        { role: 'assistant' as const, content: `answer ${turn}: ${'it is stable now '.repeat(40)}` },
      ]).flat()
      await client.messages.append({ agent: OTHER, thread, messages, ack: 'stored' })
    }

    /** The sections of a context after a compaction, for which the thread has grown. */
    async function compacted(client: Client) {
      await say(client)
      expect(await client.contexts.compress({ thread })).toMatchObject({ compacted: true })
      return await shownBy(client)
    }

    const shownBy = async (client: Client) => sectionsOf(await client.contexts.build({ thread }))

    test('one that is shared follows the history until the next compaction, and so does the end of the grant', async () => {
      const client = await begin('sections')
      await client.blocks.put({ scope: 'agent', owner: OTHER, label: 'plan' }, { value: 'my own plan' })
      await client.blocks.put({ scope: 'thread', owner: thread, label: 'task' }, { value: 'of the thread' })
      await client.blocks.put({ scope: 'project', label: 'people' }, { value: 'of all' })
      const before = await compacted(client)
      expect(before.stable.map(({ label }) => label)).toEqual(['people', 'plan', 'task'])

      await client.blocks.grant(PLAN, { to: OTHER, mode: 'read' })
      const granted = await shownBy(client)
      const entry = { scope: 'agent', label: 'planner/plan', version: 1, sharedBy: OWNER }
      expect(granted).toMatchObject({ stable: before.stable, changes: [entry] })
      expect(granted.texts.slice(0, before.texts.length)).toEqual(before.texts)
      expect(granted.texts.at(-1)).toContain('label="planner/plan"')

      const settled = await compacted(client)
      expect(settled.stable.map(({ label }) => label)).toEqual(['people', 'plan', 'planner/plan', 'task'])
      expect(settled.changes).toEqual([])
      await client.blocks.insert(PLAN, { text: 'two' })
      const edited = await shownBy(client)
      expect(edited.texts.slice(0, settled.texts.length)).toEqual(settled.texts)
      expect(edited.changes).toEqual([{ ...entry, version: 2 }])

      await client.blocks.revoke(PLAN, { to: OTHER })
      await client.blocks.insert(PLAN, { text: 'nobody else sees this' })
      const revoked = await shownBy(client)
      expect(revoked.texts.slice(0, settled.texts.length)).toEqual(settled.texts)
      expect(revoked.texts.slice(settled.texts.length)).toEqual([
        '<memory-block label="planner/plan" scope="agent" version="1" note="it was removed, and holds no longer"/>',
      ])
      const last = await compacted(client)
      expect(last.stable.map(({ label }) => label)).toEqual(['people', 'plan', 'task'])
      expect(last.texts.join()).not.toContain('planner/plan')
    })

    test('the other agent lists, reads and edits it by its name, by the rights of the grant', async () => {
      const client = await begin('rights')
      const missing = { code: 'NOT_FOUND', field: 'block' }
      await expect(client.blocks.get(SHARED)).rejects.toMatchObject(missing)
      await expect(client.blocks.insert(SHARED, { text: 'x' })).rejects.toMatchObject(missing)

      const grant = { owner: OWNER, label: 'plan', to: OTHER }
      expect(await client.blocks.grant(PLAN, { to: OTHER, mode: 'read' })).toMatchObject({ ...grant, mode: 'read' })
      const view = { ...SHARED, version: 1, value: 'one', changedBy: OWNER, shared: { by: OWNER, mode: 'read' } }
      expect(await client.blocks.get(SHARED)).toMatchObject(view)
      expect((await client.blocks.list({ thread })).items).toMatchObject([view])
      expect((await client.blocks.list({ agent: OTHER })).items).toMatchObject([view])
      const changes = [
        () => client.blocks.insert(SHARED, { text: 'x' }),
        () => client.blocks.replace(SHARED, { oldText: 'one', newText: 'x' }),
        () => client.blocks.rethink(SHARED, { value: 'x', ifVersion: 1 }),
        () => client.blocks.put(SHARED, { value: 'x' }),
        () => client.blocks.remove(SHARED),
        () => client.blocks.undo(SHARED, { toVersion: 1 }),
      ]
      for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 'FORBIDDEN', field: 'label' })

      const granted = await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      expect(await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })).toEqual(granted)
      expect((await client.blocks.grants(PLAN)).items).toEqual([granted])
      const how = { idempotencyKey: 'once' }
      const written = await client.blocks.insert(SHARED, { text: 'two', ifVersion: 1 }, how)
      expect(written).toMatchObject({ ...SHARED, version: 2, value: 'one\ntwo', changedBy: OTHER })
      expect(await client.blocks.insert(SHARED, { text: 'two', ifVersion: 1 }, how)).toEqual(written)
      // The same key of the owner is another one.
      expect(await client.blocks.insert(PLAN, { text: 'three' }, how)).toMatchObject({ version: 3, changedBy: OWNER })
      const late = await client.blocks.rethink(SHARED, { value: 'mine', ifVersion: 2 }).catch(currentIn)
      expect(late).toMatchObject({ ...SHARED, version: 3, value: 'one\ntwo\nthree', shared: { mode: 'write' } })
      await expect(client.blocks.put(SHARED, { limit: 9 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await client.blocks.put(PLAN, { readOnly: true })
      await expect(client.blocks.insert(SHARED, { text: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      expect((await history(client, PLAN)).map(({ changedBy }) => changedBy)).toEqual([OWNER, OTHER, OWNER, OWNER])
      expect((await history(client, SHARED)).map(({ label }) => label)).toEqual(Array(4).fill('planner/plan'))

      const revoked = await client.blocks.revoke(PLAN, { to: OTHER })
      expect(revoked).toMatchObject({ ...grant, mode: null })
      expect(await client.blocks.revoke(PLAN, { to: OTHER })).toEqual(revoked)
      await expect(client.blocks.get(SHARED)).rejects.toMatchObject(missing)
      await expect(client.blocks.history(SHARED)).rejects.toMatchObject(missing)
      expect((await client.blocks.list({ agent: OTHER })).items).toEqual([])
      expect((await client.blocks.grants(PLAN)).items).toEqual([])
    })

    test('grants of other things than a block of one agent to another one are refused', async () => {
      const client = await begin('refused')
      const grant = { to: OTHER, mode: 'read' } as const
      await expect(client.blocks.grant(PLAN, { ...grant, to: OWNER })).rejects.toMatchObject({ field: 'to' })
      await expect(client.blocks.grant(PLAN, { ...grant, to: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.blocks.revoke(PLAN, grant)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.blocks.grant({ ...PLAN, label: 'none' }, grant)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.blocks.grants({ ...PLAN, owner: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const ofThread = { scope: 'thread', owner: thread, label: 'plan' } as unknown as typeof PLAN
      await expect(client.blocks.grant(ofThread, grant)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
      const named = { ...SHARED, scope: 'thread', owner: thread } as const
      await expect(client.blocks.get(named)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'label' })
      // The other agent cannot share it in its place.
      await client.blocks.grant(PLAN, grant)
      const again = client.blocks.grant(SHARED as unknown as typeof PLAN, { ...grant, to: OWNER })
      await expect(again).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'label' })
    })

    test('a removal ends the grants, also if it is undone or the label is used again', async () => {
      const client = await begin('removed')
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      await client.blocks.remove(PLAN)
      await client.blocks.undo(PLAN, { toVersion: 1 })
      await expect(client.blocks.get(SHARED)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await client.blocks.remove(PLAN)
      await client.blocks.put(PLAN, { value: 'another subject' })
      expect((await client.blocks.grants(PLAN)).items).toEqual([])
      expect((await shownBy(client)).texts.join()).not.toContain('another subject')
    })

    test('24 writers of both agents at once lose nothing silently, and the history names each', async () => {
      const client = await begin('writers')
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      const before = await shownBy(client)
      let refused = 0
      const write = async (writer: number) => {
        const key = writer % 2 === 0 ? PLAN : SHARED
        let { version } = await client.blocks.get(key)
        for (;;) {
          try {
            return await client.blocks.insert(key, { text: `writer ${writer}`, ifVersion: version })
          } catch (error) {
            refused++
            ;({ version } = currentIn(error))
          }
        }
      }
      const made = await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
      expect(new Set(made.map(({ version }) => version)).size).toBe(WRITERS)
      expect(refused).toBeGreaterThan(0)

      const versions = await history(client, PLAN)
      expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: WRITERS + 1 }, (_, at) => at + 1))
      for (const [at, { value, changedBy }] of versions.slice(1).entries()) {
        expect(value.startsWith(`${versions[at]?.value}\n`)).toBe(true)
        const writer = Number(/\d+$/.exec(value)?.[0])
        expect(changedBy).toBe(writer % 2 === 0 ? OWNER : OTHER)
      }
      expect(new Set(versions.at(-1)?.value.split('\n')).size).toBe(WRITERS + 1)
      const after = await shownBy(client)
      expect(after.texts.slice(0, before.texts.length - 1)).toEqual(before.texts.slice(0, -1))
      expect(after.texts.at(-1)).toContain(`writer ${WRITERS - 1}`)
    })

    test('writers that race with the end of their grant write before it or are refused', async () => {
      const client = await begin('races')
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      const outcomes = Array.from({ length: WRITERS }, (_, writer) =>
        client.blocks.insert(SHARED, { text: `writer ${writer}` }).then(
          ({ version }) => version,
          (error) => {
            expect(error).toMatchObject({ code: 'NOT_FOUND' })
            return null
          },
        ),
      )
      await client.blocks.revoke(PLAN, { to: OTHER })
      const { version } = await client.blocks.get(PLAN)
      const written = (await Promise.all(outcomes)).filter((made) => made !== null)
      expect(written).toHaveLength(version - 1)
      expect((await client.blocks.get(PLAN)).version).toBe(version)
    })

    test('a fork of a thread sees what its origin sees, and an export has nothing of it', async () => {
      const secret = `canary${randomUUID()}`
      const client = await begin('forks', secret)
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'read' })
      const origin = await compacted(client)
      expect(origin.stable).toMatchObject([{ label: 'planner/plan' }])
      await client.threads.fork(thread, { name: 'fork' })
      const fork = sectionsOf(await client.contexts.build({ thread: 'fork' }))
      expect(fork).toMatchObject({ stable: origin.stable, changes: [] })
      const file: string[] = []
      for await (const line of client.threads.export(thread)) file.push(line)
      expect(file.join()).not.toContain(secret)
      const copy = pipeline.clientOf('copies')
      await copy.threads.import(async function* () {
        yield* file
      })
      expect((await shownBy(copy)).texts.join()).not.toContain(secret)
    })

    test('another project with agents of the same names sees nothing of it', async () => {
      const client = await begin('home', 'a secret of home')
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      const foreign = await begin('abroad', 'a text of abroad')
      await expect(foreign.blocks.get(SHARED)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(foreign.blocks.insert(SHARED, { text: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect((await foreign.blocks.grants(PLAN)).items).toEqual([])
      expect((await foreign.blocks.list({ thread })).items).toEqual([])
      expect((await shownBy(foreign)).texts.join()).not.toContain('a secret of home')
      const rows = await pipeline.store.inProject(
        projectIdOf('abroad'),
        (tx) => tx`select label from heddle.memory_block_grants`,
      )
      expect(rows).toHaveLength(0)
    })

    test('another agent with the name of an erased writer is not named as the writer', async () => {
      const client = await begin('reused-writer')
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      await client.blocks.insert(SHARED, { text: 'two' })
      await client.agents.delete(OTHER, { reuse: true })
      await client.agents.put(OTHER, {})
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      await client.blocks.insert(SHARED, { text: 'three' })
      const { items } = await client.blocks.history(PLAN)
      expect(items.map(({ changedBy }) => changedBy)).toEqual([OTHER, null, OWNER])
    })

    test('an erased owner leaves nothing with the agents that saw its block', async () => {
      const secret = `canary${randomUUID()}`
      const client = await begin('erased-owner', secret)
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      const first = await client.contexts.build({ thread })
      await compacted(client)
      const second = await client.contexts.build({ thread, message: 'and now?' })
      expect(sectionsOf(second).stable).toMatchObject([{ label: 'planner/plan' }])
      expect(await searchDatabase(pipeline.databaseUrl, [secret, 'planner/plan'])).not.toEqual(new Map())

      expect(await client.agents.delete(OWNER)).toMatchObject({
        removed: { memory_block_grants: 1, memory_blocks: 1, agents: 1, contexts: expect.any(Number) },
      })
      for (const { id } of [first, second])
        await expect(client.contexts.get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const found = await searchDatabase(pipeline.databaseUrl, [secret])
      expect([...found.keys()]).toEqual([])
      await expect(client.blocks.get(SHARED)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(await shownBy(client)).toMatchObject({ stable: [], changes: [] })
      expect((await client.messages.list({ thread, limit: 500 })).items).toHaveLength(160)
    })

    test('an erased receiver leaves the block of the owner, without its name', async () => {
      const client = await begin('erased-receiver')
      await client.blocks.grant(PLAN, { to: OTHER, mode: 'write' })
      await client.blocks.insert(SHARED, { text: 'two' })
      await client.agents.delete(OTHER)
      expect(await client.blocks.get(PLAN)).toMatchObject({ version: 2, value: 'one\ntwo', changedBy: null })
      expect((await client.blocks.grants(PLAN)).items).toEqual([])
      await expect(client.blocks.insert(SHARED, { text: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const rows = await pipeline.store.inProject(
        projectIdOf('erased-receiver'),
        (tx) => tx`
          select label from heddle.memory_block_grants
          where grantee_agent_id = ${agentIdOf(projectIdOf('erased-receiver'), OTHER)}`,
      )
      expect(rows).toHaveLength(0)
    })
  })
})
