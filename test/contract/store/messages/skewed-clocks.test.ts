import { randomUUID } from 'node:crypto'
import { systemClock } from '@heddle/runtime'
import { AppendCommits, listMessages } from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { append, appendOne, leaveMarks, PROJECT, prepared, storeOfTests } from '../support.js'

const database = storeOfTests()

const HOUR_MS = 3_600_000
/** Longer than a test takes. */
const MINUTE_MS = 60_000

const history = (threadId: string) =>
  database.store.inProject(PROJECT, (tx) => listMessages(tx, { threadId, afterSeq: 0, limit: 10 }))

describe.each([
  ['behind', -HOUR_MS],
  ['ahead', 24 * HOUR_MS],
])('a process whose clock is %s', (name, skewMs) => {
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + skewMs }
  const commits = () => {
    const warn = (_: object, message: string) => {
      throw new Error(message)
    }
    return new AppendCommits({ store: database.store, publish: async () => {}, clock, log: { warn } })
  }

  it('stores messages at their own times, and those of the future at the time of their receipt', async () => {
    const appends = commits()
    const startedAtMs = Date.now()
    const sentAtMs = [startedAtMs - 2_000, startedAtMs, startedAtMs + 12 * HOUR_MS]
    const messages = sentAtMs.map((atMs, ordinal) => ({
      message: { id: randomUUID(), role: 'user' as const, content: `${atMs}` },
      ordinal,
      orderedAt: new Date(atMs).toISOString(),
    }))
    const requestId = randomUUID()
    const { threadId } = await appends.add({ projectId: PROJECT, requestId, agent: 'a', thread: name, messages })
    await appends.close()

    const stored = await history(threadId)
    expect(stored.map(({ orderedAtMs }) => orderedAtMs).slice(0, 2)).toEqual(sentAtMs.slice(0, 2))
    for (const { orderedAtMs, receivedAtMs } of stored) {
      expect(Math.abs(receivedAtMs - startedAtMs)).toBeLessThan(MINUTE_MS)
      expect(orderedAtMs).toBeLessThan(startedAtMs + MINUTE_MS)
    }
  })
})

it('restores messages at the latest at the time of the restore, whatever clock the client has', async () => {
  const message = prepared()
  const { threadId } = await appendOne(database.store, append([message], { thread: 'restored' }))
  await leaveMarks(database.store, threadId, { ids: [message.input.id], orderedAtMs: Date.now() + HOUR_MS })
  const [, mark] = await history(threadId)
  expect(mark?.receivedAtMs).toBeGreaterThan(Date.now() - MINUTE_MS)
  expect(mark?.orderedAtMs).toBeLessThan(Date.now() + MINUTE_MS)
})
