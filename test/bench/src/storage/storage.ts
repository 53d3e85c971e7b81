import { setTimeout as sleep } from 'node:timers/promises'
import { planImport } from '@heddle/cli'
import { type MessageInput, stageNames } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { inParallel } from '@heddle/test-support/parallel'
import { sessionFiles } from '@heddle/test-support/samples/recorded-sessions'
import { type Bench, withBench } from '../bench.js'
import { conversationOf } from '../contexts/conversation.js'
import { MissingServer } from '../servers.js'
import { untilSettled } from '../settled.js'
import { bytesOf, describeTables, growthOf, type TableBytes, tableSizes, totalBytes } from './database-size.js'

const THREADS = 100
const MESSAGES_PER_THREAD = 100
const APPENDS_AT_ONCE = 20
const APPEND_DEADLINE_MS = 120_000
/**
 * The server looks for tables to vacuum once a minute, one database after another, and Heddle's housekeeping runs once a
 * minute, too: three minutes are enough for both.
 */
const IDLE_MS = 200_000

interface GivenThread {
  readonly thread: string
  /** Each is one append. */
  readonly appends: readonly (readonly Omit<MessageInput, 'id'>[])[]
}

/** 10,000 messages of 250 characters, each appended by itself. */
export async function measureSmallStorage(bench: Bench): Promise<Measured[]> {
  const threads = Array.from({ length: THREADS }, (_, number) => ({
    thread: `small-${number}`,
    appends: conversationOf(MESSAGES_PER_THREAD, number * MESSAGES_PER_THREAD).map((message) => [message]),
  }))
  const { rawBytes, grown, note } = await store(bench, threads as GivenThread[])
  const name = bench.servers.backend === 'redis' ? 'storage.small.redis' : 'storage.small'
  return [{ name, value: totalBytes(grown) / rawBytes, unit: 'bytes/byte', target: '<= 3', note }]
}

/** The same with the queues on Redis; nothing on a machine without Redis. */
export async function measureSmallStorageBesideRedis(): Promise<Measured[]> {
  try {
    return await withBench('redis', measureSmallStorage)
  } catch (error) {
    if (!(error instanceof MissingServer)) throw error
    say(error.message)
    return []
  }
}

/** Recorded sessions of coding agents, imported as a whole; nothing without their folder. */
export async function measureSessionStorage({ dataDir }: { readonly dataDir: string | null }): Promise<Measured[]> {
  if (dataDir !== null) return await withBench('postgres', (bench) => measureSessions(bench, dataDir))
  say('recorded sessions are left out: name their folder with --data DIR or HEDDLE_EVAL_DATA')
  return []
}

async function measureSessions(bench: Bench, dataDir: string): Promise<Measured[]> {
  const planned = await planImport(sessionFiles(dataDir), { cwd: '/', project: 'bench', format: 'auto' })
  const threads = planned.map(({ thread, messages }) => ({ thread: `session-${thread}`, appends: [messages] }))
  const { rawBytes, grown, note } = await store(bench, threads)
  const messages = grown.find(({ name }) => name === 'messages')
  const perByte = (bytes: number) => ({ value: bytes / rawBytes, unit: 'bytes/byte' })
  return [
    { name: 'storage.session', ...perByte(totalBytes(grown)), target: '<= 1.6', note },
    {
      name: 'storage.messages',
      ...perByte(messages === undefined ? 0 : bytesOf(messages)),
      target: '<= 1.15',
      note: 'the table of messages with its indexes, of the same sessions',
    },
  ]
}

/** The bytes of threads on disk after all stages have processed them and nothing happened for some minutes. */
async function store(
  bench: Bench,
  threads: readonly GivenThread[],
): Promise<{ rawBytes: number; grown: TableBytes[]; note: string }> {
  const schemas = ['heddle', `${bench.place.prefix.replaceAll('-', '_')}_queue`]
  const before = await tableSizes(bench.sql, schemas)
  const workers = await bench.startUpkeptStages(...stageNames)
  await inParallel(threads, APPENDS_AT_ONCE, async ({ thread, appends }) => {
    for (const messages of appends) {
      await bench.client.messages.append({
        agent: 'coder',
        thread,
        messages: [...messages],
        newAgentRollingWindow: null,
        deadlineMs: APPEND_DEADLINE_MS,
      })
    }
  })
  await untilSettled(bench, '')
  const messages = threads.flatMap(({ appends }) => appends.flat())
  const rawBytes = messages.reduce((total, message) => total + rawBytesOf(message), 0)
  const settled = growthOf(before, await tableSizes(bench.sql, schemas))
  say(`settled: ${(totalBytes(settled) / rawBytes).toFixed(2)} bytes per byte; waiting ${IDLE_MS / 1_000} s for upkeep`)
  await sleep(IDLE_MS)
  const grown = growthOf(before, await tableSizes(bench.sql, schemas))
  await workers.stop()
  for (const line of describeTables(grown, rawBytes)) say(line)
  const facts = [
    `${messages.length} messages of ${Math.round(rawBytes / messages.length)} bytes in ${threads.length} threads`,
    `${(totalBytes(settled) / rawBytes).toFixed(2)} before upkeep`,
    `an empty database takes ${Math.round(totalBytes(before) / 1_024)} kB besides`,
  ]
  return { rawBytes, grown, note: facts.join('; ') }
}

/** The texts of a message, its calls and its reasoning, as they were given. */
function rawBytesOf({ content, toolCalls, thinking }: Omit<MessageInput, 'id'>): number {
  const json = [toolCalls, thinking].filter((blocks) => blocks !== undefined)
  return (
    Buffer.byteLength(content ?? '') + json.reduce((sum, blocks) => sum + Buffer.byteLength(JSON.stringify(blocks)), 0)
  )
}

function say(line: string): void {
  process.stderr.write(`  ${line}\n`)
}
