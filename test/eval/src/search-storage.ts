import type { MessageInput } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { type GivenThread, openPipeline, settleThreads } from './pipeline.js'
import { readLocomo } from './search/locomo.js'
import { readSessions } from './sessions.js'
import { searchBytes } from './storage.js'

/**
 * The size of search data on disk, vectors and postings with their indexes, beside the searched text: recorded sessions,
 * and conversations whose messages are a line each. Vectors of 384 dimensions have the same size for every model.
 */
export async function measureSearchStorage(dataDir: string): Promise<Measured[]> {
  const sessions = (await readSessions(dataDir)).map(({ thread, messages }) => ({ agent: 'coder', thread, messages }))
  const conversations = readLocomo(dataDir).flatMap(({ threads }) => threads)
  return [
    { name: 'search.storage', target: '<= 1.5', ...(await storageOf(sessions)) },
    { name: 'search.storage.lines', ...(await storageOf(conversations)) },
  ]
}

async function storageOf(threads: readonly GivenThread[]): Promise<Omit<Measured, 'name'>> {
  const { clientWith, sql } = await openPipeline({})
  const before = await searchBytes(sql)
  await settleThreads(clientWith({}), threads)
  const after = await searchBytes(sql)
  const messages = threads.flatMap((thread) => thread.messages)
  const textBytes = messages.reduce((sum, message) => sum + bytesOf(message), 0)
  const vectors = after.vectors - before.vectors
  const postings = after.postings - before.postings
  return {
    value: vectors + postings,
    ceiling: textBytes,
    unit: 'bytes',
    note: `${messages.length} messages of ${Math.round(textBytes / messages.length)} bytes; vectors ${(vectors / textBytes).toFixed(2)}, postings ${(postings / textBytes).toFixed(2)} per byte of text`,
  }
}

function bytesOf({ content, toolCalls }: MessageInput): number {
  return Buffer.byteLength(content ?? '') + (toolCalls === undefined ? 0 : Buffer.byteLength(JSON.stringify(toolCalls)))
}
