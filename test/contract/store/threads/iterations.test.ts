import type { IterationInput } from '@heddle/contracts'
import { type Iteration, iterationFingerprint, threadIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import { appendIterations, ensureThread, listIterations, overviewLoop, type PreparedIteration } from '@heddle/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId, PROJECT, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()

let threads = 0
const freshThread = () => `loop ${++threads}`

function iteration(fields: Partial<IterationInput> = {}): PreparedIteration {
  const input: IterationInput = { id: newId(), prompt: 'go on', output: 'done', ...fields }
  const happenedAtMs = input.timestamp === undefined ? RECEIVED_AT_MS : Date.parse(input.timestamp)
  return { input, happenedAtMs, fingerprint: iterationFingerprint(input) }
}

const append = (thread: string, iterations: readonly PreparedIteration[]) =>
  database.store.inProject(PROJECT, async (tx) => {
    const { threadId } = await ensureThread(tx, { projectId: PROJECT, agent: 'runner', thread })
    return await appendIterations(tx, { threadId, iterations })
  })
const list = (thread: string, query: { afterNumber?: number; limit?: number; order?: 'asc' | 'desc' } = {}) =>
  database.store.inProject(PROJECT, (tx) =>
    listIterations(tx, { threadId: threadIdOf(PROJECT, thread), limit: 100, order: 'asc', ...query }),
  )

describe('iterations', () => {
  it('of a long append are named by their position in it when one is invalid', async () => {
    const client = createClient({ store: database.store, queues: null, project: 'long loops' })
    const iterations = Array.from({ length: 150 }, (_, index) => ({ prompt: `${index}`, output: '' }))
    const refused = (fault: object) =>
      client.iterations.append({
        agent: 'runner',
        thread: freshThread(),
        iterations: iterations.map((each, index) => (index === 120 ? { ...each, ...fault } : each)),
      })
    await expect(refused({ iterationNumber: 1 })).rejects.toMatchObject({ field: 'iterations.120.iterationNumber' })
    await expect(refused({ cliUsed: 'NUL \0' })).rejects.toMatchObject({ field: 'iterations.120.cliUsed' })
  })

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
    ['another content under a used id', { output: 'other' }, 'iterations.1.id'],
    ['another number under a used id', { iterationNumber: 9 }, 'iterations.1.id'],
    ['a number that another id has', { id: newId() }, 'iterations.1.iterationNumber'],
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

  it('of an erased thread are refused with an error that names it', async () => {
    const append = database.store.inProject(PROJECT, (tx) =>
      appendIterations(tx, { threadId: newId(), iterations: [iteration()] }),
    )
    await expect(append).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'thread' })
  })

  it('count toward the page size with their lists', async () => {
    const thread = freshThread()
    const large = ['x'.repeat(3_000_000)]
    await append(thread, [{ fileChanges: large }, { progressMarkers: large }, { fileChanges: large }].map(iteration))
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
