import { findUnsettledThreads } from '@heddle/store'
import { expect, test } from 'vitest'
import { append, appendOne, newId, PROJECT, prepared, storeOfTests } from '../support.js'

const database = storeOfTests()

test('threads are unsettled until the awaited stages have reached their head', async () => {
  const { threadId } = await appendOne(database.store, append([prepared(), prepared()], { thread: newId() }))
  const other = await appendOne(database.store, append([prepared()], { thread: newId() }))
  const threadIds = [threadId, other.threadId]
  await database.store.inProject(PROJECT, async (tx) => {
    const find = (through: 'summarize' | 'remember') => findUnsettledThreads(tx, { threadIds, through })
    expect((await find('summarize')).sort()).toEqual([...threadIds].sort())

    await tx`update heddle.stage_cursors set prune_seq = head_seq where thread_id = ${threadId}`
    expect(await find('summarize')).toContain(threadId)
    await tx`update heddle.stage_cursors set summarize_seq = head_seq where thread_id = ${threadId}`
    expect(await find('summarize')).toEqual([other.threadId])
    expect((await find('remember')).sort()).toEqual([...threadIds].sort())
    await tx`update heddle.stage_cursors set embed_seq = head_seq where thread_id = ${threadId}`
    expect(await find('remember')).toEqual([other.threadId])
    await tx`update heddle.stage_cursors set remember_seq = head_seq - 1 where thread_id = ${threadId}`
    expect((await find('remember')).sort()).toEqual([...threadIds].sort())
    expect(await find('summarize')).toEqual([other.threadId])
    await tx`update heddle.stage_cursors set remember_seq = head_seq where thread_id = ${threadId}`
    expect(await find('remember')).toEqual([other.threadId])

    await tx`update heddle.stage_cursors set iteration_count = progress_count + 1 where thread_id = ${threadId}`
    expect((await find('remember')).sort()).toEqual([...threadIds].sort())
    expect(await findUnsettledThreads(tx, { threadIds: [], through: 'remember' })).toEqual([])
  })
})
