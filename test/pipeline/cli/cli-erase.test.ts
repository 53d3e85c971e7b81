import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { runCli } from '@heddle/cli'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

describe('on the command line', () => {
  let pipeline: Pipeline
  beforeAll(async () => {
    pipeline = await openPipeline()
    const stages = await pipeline.start()
    for (const thread of ['one', 'two', 'three']) {
      await pipeline.client.messages.append({ agent: 'weaver', thread, messages: [{ role: 'user', content: 'hello' }] })
    }
    await stages.stop()
  })
  afterAll(() => pipeline?.close())

  /** @param typed the input of a person at a terminal; without it there is no terminal */
  async function heddle(argv: readonly string[], typed?: string) {
    const asked: string[] = []
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const code = await runCli(argv, {
      stdout,
      stderr,
      env: { ...pipeline.environment, HEDDLE_PROJECT: 'tests' },
      cwd: tmpdir(),
      ...(typed !== undefined && {
        ask: async (question: string) => {
          asked.push(question)
          return typed
        },
      }),
    })
    return { code, asked, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }
  }

  const threads = async () => (await pipeline.client.threads.list()).items.map(({ name }) => name)

  test('a thread is erased only if its name is repeated or --yes is given', async () => {
    expect(await heddle(['threads', 'delete', 'one', '--json'])).toMatchObject({ code: 2, out: '' })
    const mistyped = await heddle(['threads', 'delete', 'one'], 'on')
    expect(mistyped).toMatchObject({ code: 2, asked: [expect.stringContaining('thread one')] })
    expect(await threads()).toEqual(['one', 'three', 'two'])

    const typed = await heddle(['threads', 'delete', 'one'], 'one')
    expect(typed.code).toBe(0)
    expect(typed.out).toMatch(/thread one erased\n(.*\n)*.*messages: 1\n/)
    const said = await heddle(['threads', 'delete', 'two', '--yes', '--json'])
    expect(said.code).toBe(0)
    expect(JSON.parse(said.out)).toMatchObject({ kind: 'thread', name: 'two', removed: { messages: 1, threads: 1 } })
    expect(await threads()).toEqual(['three'])
  })

  test('messages are erased under the same condition, with the name of their thread', async () => {
    const named = ['messages', 'delete', '--thread', 'three', '--from', '1', '--to', '1']
    expect(await heddle(named, 'two')).toMatchObject({ code: 2, asked: [expect.stringContaining('thread three')] })
    const typed = await heddle(named, 'three')
    expect(typed.code).toBe(0)
    expect(typed.out).toMatch(/messages of thread three erased\n(.*\n)*.*messages: 1\n/)
    const { items } = await pipeline.client.messages.list({ thread: 'three' })
    expect(items).toMatchObject([{ content: '', keptAside: 'erased' }])
    const again = await heddle([...named, '--yes', '--json'])
    expect(JSON.parse(again.out)).toMatchObject({ kind: 'messages', name: 'three', removed: {}, finished: true })
    const missing = await heddle([
      'messages',
      'delete',
      '--thread',
      'three',
      '--message',
      'msg-00000000',
      '--yes',
      '--json',
    ])
    expect(missing.code).toBe(1)
    expect(JSON.parse(missing.err)).toMatchObject({ error: { code: 'NOT_FOUND', field: 'message' } })
  })

  test('a missing thread or agent is an error with exit code 1', async () => {
    const missing = await heddle(['threads', 'delete', 'never there', '--yes', '--json'])
    expect(missing.code).toBe(1)
    expect(JSON.parse(missing.err)).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  test('an agent and a project are erased under the same condition', async () => {
    expect((await heddle(['agents', 'delete', 'weaver'], 'weaver')).code).toBe(0)
    expect(await threads()).toEqual([])
    expect((await heddle(['projects', 'delete'])).code).toBe(2)
    const erased = await heddle(['projects', 'delete', '--json'], 'tests')
    expect(JSON.parse(erased.out)).toMatchObject({ kind: 'project', name: 'tests', removed: { projects: 1 } })
  })

  test('each erase command has its help', async () => {
    for (const group of ['threads', 'agents', 'projects', 'messages']) {
      const help = await heddle([group, 'delete', '--help'])
      expect(help).toMatchObject({ code: 0, out: expect.stringContaining('--yes') })
    }
  })
})
