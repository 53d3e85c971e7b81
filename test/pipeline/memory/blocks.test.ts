import type { Client } from '@heddle/client/interface'
import type { BlockKey } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modes, openPipeline, type Pipeline } from '../support.js'
import { currentIn, history, sectionsOf } from './blocks-support.js'

const AGENTS = 64
/** Of whom all but one are refused each time: the requests grow with the square of this. */
const RIVALS = 24
const AGENT = 'coder'
const NOTES: BlockKey = { scope: 'agent', owner: AGENT, label: 'notes' }

describe.each(modes())('memory blocks on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('of an agent', () => {
    let pipeline: Pipeline
    beforeAll(async () => {
      pipeline = await openPipeline(mode)
      await pipeline.start()
    })
    afterAll(() => pipeline?.close())

    /** A project with an agent, its block, and a thread with some turns. */
    async function begin(project: string, thread = 'work'): Promise<Client> {
      const client = pipeline.clientOf(project)
      await client.agents.put(AGENT, { settings: { rollingWindow: null } })
      await client.blocks.put(NOTES, { value: 'start', limit: 20_000, description: 'what all agents know' })
      await say(client, thread, 40)
      return client
    }

    async function say(client: Client, thread: string, turns: number): Promise<void> {
      const messages = Array.from({ length: turns }, (_, turn) => [
        { role: 'user' as const, content: `question ${turn}: ${'why does it fail '.repeat(40)}` },
        { role: 'assistant' as const, content: `answer ${turn}: ${'it is stable now '.repeat(40)}` },
      ]).flat()
      await client.messages.append({ agent: AGENT, thread, messages, ack: 'stored' })
    }

    test('24 writers at once lose nothing silently, and the prefix stays until the next compaction', async () => {
      const client = await begin('writers')
      const before = await client.contexts.build({ thread: 'work' })
      expect(sectionsOf(before)).toMatchObject({ stable: [{ label: 'notes', version: 1 }], changes: [] })

      let refused = 0
      const write = async (writer: number) => {
        let { version } = await client.blocks.get(NOTES)
        for (;;) {
          try {
            return await client.blocks.insert(NOTES, { text: `writer ${writer}`, ifVersion: version })
          } catch (error) {
            refused++
            ;({ version } = currentIn(error))
          }
        }
      }
      const made = await Promise.all(Array.from({ length: RIVALS }, (_, writer) => write(writer)))
      expect(new Set(made.map(({ version }) => version)).size).toBe(RIVALS)
      expect(refused).toBeGreaterThan(0)

      const versions = await history(client, NOTES)
      expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: RIVALS + 1 }, (_, at) => at + 1))
      for (const [at, { value }] of versions.entries()) expect(value.split('\n')).toHaveLength(at + 1)
      for (const [at, { value }] of versions.slice(1).entries())
        expect(value.startsWith(versions[at]?.value ?? '?')).toBe(true)
      const lines = versions.at(-1)?.value.split('\n') ?? []
      expect(new Set(lines).size).toBe(RIVALS + 1)

      const after = await client.contexts.build({ thread: 'work' })
      const [old, changed] = [sectionsOf(before), sectionsOf(after)]
      expect(changed).toMatchObject({ stable: [{ version: 1 }], changes: [{ label: 'notes', version: RIVALS + 1 }] })
      expect(changed.texts.slice(0, old.texts.length)).toEqual(old.texts)
      expect(changed.texts.at(-1)).toContain(`writer ${RIVALS - 1}`)

      expect(await client.contexts.compress({ thread: 'work' })).toMatchObject({ compacted: true })
      const compacted = sectionsOf(await client.contexts.build({ thread: 'work' }))
      expect(compacted).toMatchObject({ stable: [{ label: 'notes', version: RIVALS + 1 }], changes: [] })
      expect(compacted.texts.filter((text) => text.includes(`writer ${RIVALS - 1}`))).toHaveLength(1)
    })

    test('64 writers at once without a version are all applied', async () => {
      const client = await begin('appenders')
      await Promise.all(
        Array.from({ length: AGENTS }, (_, writer) => client.blocks.insert(NOTES, { text: `writer ${writer}` })),
      )
      const { value, version } = await client.blocks.get(NOTES)
      expect(version).toBe(AGENTS + 1)
      expect(new Set(value.split('\n')).size).toBe(AGENTS + 1)
    })

    test('64 creations at once of one block make one, and all others are refused with it', async () => {
      const client = await begin('creators')
      const key: BlockKey = { scope: 'project', label: 'plan' }
      const outcomes = await Promise.allSettled(
        Array.from({ length: AGENTS }, (_, writer) => client.blocks.put(key, { value: `${writer}`, ifVersion: 0 })),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const current = await client.blocks.get(key)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(currentIn(outcome.reason)).toEqual(current)
    })

    test('a repeat with the same key is one version, also under an outdated version', async () => {
      const client = await begin('keys')
      const how = { idempotencyKey: 'once' }
      const first = await client.blocks.insert(NOTES, { text: 'a', ifVersion: 1 }, how)
      await client.blocks.insert(NOTES, { text: 'b' })
      expect(await client.blocks.insert(NOTES, { text: 'a', ifVersion: 1 }, how)).toEqual(first)
      const other = { code: 'CONFLICT', field: 'idempotencyKey' }
      await expect(client.blocks.insert(NOTES, { text: 'c' }, how)).rejects.toMatchObject(other)
      await expect(client.blocks.rethink(NOTES, { value: 'start\na' }, how)).rejects.toMatchObject(other)
      await expect(client.blocks.remove(NOTES, how)).rejects.toMatchObject(other)
      const replaced = client.blocks.replace(NOTES, { oldText: 'nowhere', newText: '' }, how)
      await expect(replaced).rejects.toMatchObject(other)
      expect((await client.blocks.get(NOTES)).value).toBe('start\na\nb')
    })

    test('undo takes versions into force again, also after a removal, and nothing is overwritten', async () => {
      const client = await begin('undo')
      await client.blocks.rethink(NOTES, { value: 'wrong' })
      expect(await client.blocks.undo(NOTES)).toMatchObject({ version: 3, value: 'start', change: 'undo' })
      await client.blocks.remove(NOTES, { ifVersion: 3 })
      await expect(client.blocks.get(NOTES)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect((await client.blocks.list({ thread: 'work' })).items).toEqual([])
      const removed = sectionsOf(await client.contexts.build({ thread: 'work' }))
      expect(removed.texts.at(-1)).toContain('it was removed, and holds no longer')
      expect(await client.blocks.undo(NOTES, { toVersion: 2 })).toMatchObject({ version: 5, value: 'wrong' })
      expect((await history(client, NOTES)).map(({ change }) => change)).toEqual([
        'put',
        'rethink',
        'undo',
        'remove',
        'undo',
      ])
    })

    test('blocks are in the order of their scopes, and each thread sees its own', async () => {
      const client = await begin('scopes')
      await say(client, 'other', 1)
      await client.blocks.put({ scope: 'thread', owner: 'work', label: 'task' }, { value: 'of work', readOnly: true })
      await client.blocks.put({ scope: 'project', label: 'people' }, { value: 'of all' })
      const shownIn = async (thread: string) =>
        (await client.blocks.list({ thread })).items.map(({ label, owner }) => [label, owner])
      expect(await shownIn('work')).toEqual([
        ['people', null],
        ['notes', AGENT],
        ['task', 'work'],
      ])
      expect(await shownIn('other')).toEqual([
        ['people', null],
        ['notes', AGENT],
      ])
      const context = sectionsOf(await client.contexts.build({ thread: 'work' }))
      expect(context.changes.map(({ label }) => label)).toEqual(['people', 'task'])
      const task: BlockKey = { scope: 'thread', owner: 'work', label: 'task' }
      await expect(client.blocks.insert(task, { text: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await expect(client.blocks.put({ ...task, owner: 'nowhere' }, {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.blocks.rethink({ ...task, label: 'none' }, { value: '' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      await expect(client.blocks.put({ scope: 'agent', label: 'x' }, {})).rejects.toMatchObject({ field: 'owner' })
    })

    test('blocks of a thread go with its export, its forks and its erasure', async () => {
      const client = await begin('moves')
      const task: BlockKey = { scope: 'thread', owner: 'work', label: 'task' }
      await client.blocks.put(task, { value: 'one' }, { idempotencyKey: 'k' })
      await client.blocks.insert(task, { text: 'two' })
      await client.threads.fork('work', { name: 'fork' })
      const fork = await history(client, { ...task, owner: 'fork' })
      expect(fork.map(({ value }) => value)).toEqual(['one', 'one\ntwo'])
      await client.blocks.insert({ ...task, owner: 'fork' }, { text: 'three' })
      expect((await client.blocks.get(task)).value).toBe('one\ntwo')

      const lines = async (thread: string) => {
        const all: string[] = []
        for await (const line of client.threads.export(thread)) all.push(line)
        return all
      }
      const file = await lines('work')
      const copy = pipeline.clientOf('copies')
      const read = async function* () {
        yield* file
      }
      for (let times = 0; times < 2; times++) await copy.threads.import(read)
      const exported: string[] = []
      for await (const line of copy.threads.export('work')) exported.push(line)
      expect(exported).toEqual(file)
      expect(await history(copy, task)).toEqual(await history(client, task))

      await client.threads.delete('fork')
      await client.threads.delete('work')
      await expect(client.blocks.get(task)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await client.agents.delete(AGENT)
      const rows = await pipeline.store.inProject(
        projectIdOf('moves'),
        async (tx) => await tx`select label from heddle.memory_block_versions`,
      )
      expect(rows).toHaveLength(0)
    })
  })
})
