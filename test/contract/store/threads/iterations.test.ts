import type { IterationInput } from '@heddle/contracts'
import { type Iteration, iterationFingerprint, threadIdOf } from '@heddle/core'
import { listIterations, overviewLoop, type PreparedMessage } from '@heddle/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { appendIterations, preparedIteration as iteration, newId, PROJECT, storeOfTests } from '../support.js'

const database = storeOfTests()

let threads = 0
const freshThread = () => `loop ${++threads}`

const append = (thread: string, iterations: readonly PreparedMessage[]) =>
  appendIterations(database.store, { agent: 'runner', thread, iterations })
const list = (thread: string, query: { afterNumber?: number; limit?: number; order?: 'asc' | 'desc' } = {}) =>
  database.store.inProject(PROJECT, (tx) =>
    listIterations(tx, { threadId: threadIdOf(PROJECT, thread), limit: 100, order: 'asc', ...query }),
  )

describe('iterations', () => {
  it('are stored with every field and their full texts, also empty and long ones', async () => {
    const thread = freshThread()
    const everything: Partial<IterationInput> = {
      iterationNumber: 4,
      timestamp: '2026-02-12T14:30:00Z',
      cliUsed: 'codex',
      modelUsed: 'gpt-5-mini',
      prompt: 'p'.repeat(600),
      output: 'o'.repeat(1_000_000),
      progressScore: 0.25,
      progressMarkers: ['login works \u0000'],
      fileChanges: ['src/login.ts'],
      fileEvents: [{ path: 'src/login.ts', event: 'modified', timestamp: '2026-02-12T14:30:00Z' }],
      durationSeconds: 12.5,
    }
    await append(thread, [iteration(everything), iteration({ prompt: '', output: '' })])
    const { iterations } = await list(thread)
    const { iterationNumber, timestamp, ...fields } = everything
    expect(iterations[0]).toEqual({
      ...fields,
      id: expect.any(String),
      code: expect.stringMatching(/^[0-9a-z]{8}$/),
      number: iterationNumber,
      happenedAtMs: Date.parse(timestamp ?? ''),
    })
    expect(iterations[1]).toMatchObject({ number: 5, prompt: '', output: '', progressScore: null, fileChanges: [] })
  })

  it('are read back byte for byte, whatever they contain', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 })
    const halves = fc.array(fc.constantFrom('\ud83d', '\ude00', '\0', '\\u0000', 'a'), { maxLength: 8 })
    const any = fc.oneof(
      text,
      halves.map((parts) => parts.join('')),
    )
    await fc.assert(
      fc.asyncProperty(any, any, fc.array(any, { maxLength: 3 }), async (prompt, output, progressMarkers) => {
        const thread = freshThread()
        await append(thread, [iteration({ prompt, output, progressMarkers })])
        const { iterations } = await list(thread)
        expect(iterations).toMatchObject([{ prompt, output, progressMarkers }])
      }),
      { numRuns: 40 },
    )
  })

  it('are stored once however often they arrive, and are numbered from the highest on', async () => {
    const thread = freshThread()
    const first = [iteration(), iteration({ iterationNumber: 7 }), iteration()]
    expect(await append(thread, first)).toEqual({ numbers: [1, 7, 8], stored: 3 })
    expect(await append(thread, [...first, iteration()])).toEqual({ numbers: [1, 7, 8, 9], stored: 1 })
    expect(await append(thread, [])).toEqual({ numbers: [], stored: 0 })
    expect((await list(thread)).iterations.map(({ number }) => number)).toEqual([1, 7, 8, 9])
  })

  it('that several processes append at once get distinct numbers', async () => {
    const thread = freshThread()
    const appended = await Promise.all(Array.from({ length: 8 }, () => append(thread, [iteration(), iteration()])))
    const numbers = appended.flatMap((one) => one.numbers)
    expect([...numbers].sort((left, right) => left - right)).toEqual(Array.from({ length: 16 }, (_, at) => at + 1))
  })

  it.each([
    ['another content under a used id', { output: 'other' }, 'messages.1.id'],
    ['another number under a used id', { iterationNumber: 9 }, 'messages.1.id'],
    ['a number that another id has', { id: newId() }, 'messages.1.iteration.iterationNumber'],
  ])('%s is a conflict, and nothing of its append is stored', async (_, fields, field) => {
    const thread = freshThread()
    const id = newId()
    await append(thread, [iteration({ id, iterationNumber: 3 })])
    const conflicting = iteration({ id, iterationNumber: 3, ...fields })
    await expect(append(thread, [iteration(), conflicting])).rejects.toMatchObject({ code: 'CONFLICT', field })
    // The same rule applies between two of one append.
    const staged = [iteration({ id, iterationNumber: 3 }), conflicting]
    await expect(append(freshThread(), staged)).rejects.toMatchObject({ code: 'CONFLICT', field })
    expect((await list(thread)).iterations).toHaveLength(1)
  })

  it('stored before iterations had messages are read, and repeated like any other', async () => {
    const thread = freshThread()
    await append(thread, [iteration({ iterationNumber: 1 })])
    const old: IterationInput = { id: newId(), prompt: 'go on', output: 'done \0', iterationNumber: 2 }
    const threadId = threadIdOf(PROJECT, thread)
    await database.store.inProject(
      PROJECT,
      (tx) => tx`
        insert into heddle.iterations (
          thread_id, number, id, happened_at, prompt, output, texts_escaped, fingerprint)
        values (
          ${threadId}, 2, ${old.id}, now(), ${JSON.stringify(old.prompt)}, ${JSON.stringify(old.output)}, true,
          decode(${iterationFingerprint(old)}, 'hex'))`,
    )
    const { iterations } = await list(thread)
    expect(iterations[1]).toMatchObject({ id: old.id, number: 2, prompt: old.prompt, output: old.output, code: null })
    expect(await append(thread, [iteration(old), iteration()])).toEqual({ numbers: [2, 3], stored: 1 })
    await expect(append(thread, [iteration({ ...old, output: 'other' })])).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('are messages with their outputs, kept aside, whose texts are stored once', async () => {
    const thread = freshThread()
    const output = 'The login works now. '.repeat(10)
    await append(thread, [iteration({ output, prompt: 'fix the login' })])
    const rows = await database.store.inProject(
      PROJECT,
      (tx) => tx`
        select message.content, message.role, message.kept_aside, iteration.output, iteration.fingerprint
        from heddle.iterations as iteration
        join heddle.messages as message on message.thread_id = iteration.thread_id and message.seq = iteration.seq
        where iteration.thread_id = ${threadIdOf(PROJECT, thread)} and message.id = iteration.id`,
    )
    expect(rows).toEqual([
      { content: output, role: 'assistant', keptAside: 'iteration', output: null, fingerprint: null },
    ])
  })

  it('count toward the page size with their lists', async () => {
    const thread = freshThread()
    const large = ['x'.repeat(3_000_000)]
    await append(
      thread,
      [{ fileChanges: large }, { progressMarkers: large }, { fileChanges: large }].map((fields) => iteration(fields)),
    )
    await append(thread, [iteration()])
    const { iterations, hasMore } = await list(thread)
    expect([iterations.map(({ number }) => number), hasMore]).toEqual([[1, 2, 3], true])
  })

  it('are paged by number in both directions, large ones on short pages', async () => {
    const thread = freshThread()
    const output = 'x'.repeat(3_000_000)
    await append(thread, [iteration({ output }), iteration({ output }), iteration({ output }), iteration({ output })])
    await append(thread, [iteration()])
    const pages: Iteration[][] = []
    for (let afterNumber: number | undefined, hasMore = true; hasMore; ) {
      const page = await list(thread, { ...(afterNumber !== undefined && { afterNumber }) })
      pages.push(page.iterations)
      hasMore = page.hasMore
      afterNumber = page.iterations.at(-1)?.number
    }
    expect(pages.map((page) => page.map(({ number }) => number))).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
    const newest = await list(thread, { limit: 2, order: 'desc' })
    expect(newest.iterations.map(({ number }) => number)).toEqual([5, 4])
    const before = await list(thread, { limit: 2, order: 'desc', afterNumber: 4 })
    expect(before.iterations.map(({ number }) => number)).toEqual([3, 2])
  })

  it('give the state of their loop', async () => {
    const thread = freshThread()
    const events = [{ path: 'a.ts', event: 'created' }]
    await append(thread, [
      iteration({ timestamp: '2026-02-12T14:00:00Z', cliUsed: 'codex', modelUsed: 'one', fileEvents: events }),
      iteration({ cliUsed: 'gemini', fileEvents: [{ path: 'b.ts', event: 'deleted' }] }),
      iteration(),
    ])
    const overview = await database.store.inProject(PROJECT, (tx) =>
      overviewLoop(tx, { threadId: threadIdOf(PROJECT, thread) }),
    )
    expect(overview).toEqual({
      totalIterations: 3,
      firstAtMs: Date.parse('2026-02-12T14:00:00Z'),
      lastCli: 'gemini',
      lastModel: 'one',
      fileEvents: [...events, { path: 'b.ts', event: 'deleted' }],
    })
  })
})
