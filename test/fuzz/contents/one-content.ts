import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { runCli } from '@heddle/cli'
import type { RemoteClient } from '@heddle/client/http'
import { HeddleError, limits } from '@heddle/contracts'
import { asMessages, asSession } from './conversation.js'
import type { Health, Waits } from './health.js'

export interface Place {
  readonly client: RemoteClient
  readonly health: Health
  /** Folder of files to import. */
  readonly folder: string
  readonly data: string
}

/** The measurements of one content in all steps. */
export interface Passed {
  /** Megabytes. */
  readonly size: number
  /** From the append until its thread has settled, in milliseconds. */
  readonly settledMs: number
  readonly importedMs: number | null
  /** By step. */
  readonly waits: Readonly<Record<string, Step>>
}

/** The delays for other clients during a step, and its duration. */
export interface Step extends Waits {
  readonly tookMs: number
}

const SETTLE_MS_MAX = 300_000
const POLL_MS_MIN = 15
/** Of the time that was waited: the time to settle is that exact, and requests are few. */
const POLL_SHARE = 0.02
const BUDGET = 16_000

export interface Content {
  /** The name of its thread and agent. */
  readonly name: string
  readonly text: string
  /** Megabytes. */
  readonly size: number
  /** Whether it is also read in all ways, and imported. */
  readonly isRead: boolean
}

/** The shorter of each two times of two passes. */
export function shorterOf(one: Passed, other: Passed): Passed {
  const steps = Object.entries(one.waits).map(([step, first]) => {
    const { [step]: again = first } = other.waits
    // The answers of the two servers belong together.
    const { healthMs, emptyMs } = again.healthMs < first.healthMs ? again : first
    const shorter = (key: 'loopMs' | 'tookMs') => Math.min(first[key], again[key])
    return [step, { healthMs, emptyMs, loopMs: shorter('loopMs'), tookMs: shorter('tookMs') }] as const
  })
  return {
    size: one.size,
    settledMs: Math.min(one.settledMs, other.settledMs),
    importedMs: one.importedMs === null ? null : Math.min(one.importedMs, other.importedMs ?? one.importedMs),
    waits: Object.fromEntries(steps),
  }
}

/** Appends a content to a new thread and waits until it has settled; then reads it in all ways, and imports it too. */
export async function passContent(place: Place, { name, text, size, isRead }: Content): Promise<Passed> {
  const { client } = place
  const waits: Record<string, Step> = {}
  const step = async <Result>(title: string, work: Promise<Result>): Promise<Result> => {
    const startedMs = performance.now()
    const result = await work
    const tookMs = performance.now() - startedMs
    waits[title] = { ...(await place.health.take()), tookMs }
    return result
  }
  if (text.length > limits.messageCharactersMax) await step('refuse', refused(place, name, text))
  await client.agents.put(name, { settings: { rollingWindow: null, budget: BUDGET, prune: { keepLastN: 2 } } })
  const messages = asMessages(text)
  await place.health.take()

  const startedMs = performance.now()
  await step('append', client.messages.append({ agent: name, thread: name, messages, deadlineMs: SETTLE_MS_MAX }))
  await step('settle', settled(client, name))
  const settledMs = performance.now() - startedMs
  if (!isRead) return { size, settledMs, importedMs: null, waits }

  const query = text.slice(0, 200).trim() || 'work'
  await step('build', client.contexts.build({ thread: name, message: 'go on' }))
  await step('build again', client.contexts.build({ thread: name, message: 'go on then', format: 'openai-chat' }))
  await step('search', client.search({ query, thread: name }))
  const page = await step('list', client.messages.list({ thread: name, limit: 1 }))
  const [first] = page.items
  if (first === undefined) throw new Error(`${name}: nothing was stored`)
  const ref = first.reference
  await step('recall', client.recall({ ref, thread: name, maxTokens: limits.budgetTokensMax }))
  await step('recall a line', client.recall({ ref, thread: name, search: 'a', lines: '1-10' }))
  await step('export', cli(place, ['threads', 'export', name, '--out', join(place.folder, 'exported.ndjson')]))

  await coverAndReport(place, name, messages, step)

  const file = join(place.folder, 'session.json')
  await writeFile(file, JSON.stringify(asSession(text)))
  const importing = performance.now()
  const imported = `${name}-imported`
  await place.health.take()
  await step('import', cli(place, ['import', file, '--agent', name, '--thread', imported, '--format', 'openai']))
  await step('settle what was imported', settled(client, imported))
  const importedMs = performance.now() - importing
  await step('build of what was imported', client.contexts.build({ thread: imported, message: 'go on' }))
  return { size, settledMs, importedMs, waits }
}

/** The content once more, where a summary covers it, and the details that the summary lost. */
async function coverAndReport(
  { client }: Place,
  of: string,
  messages: ReturnType<typeof asMessages>,
  step: <Result>(title: string, work: Promise<Result>) => Promise<Result>,
): Promise<void> {
  const name = `${of}-covered`
  const settings = { rollingWindow: null, budget: BUDGET, sandwich: { preserveTop: 0, preserveBottom: 1 } }
  await client.agents.put(name, { settings })
  await client.messages.append({ agent: name, thread: name, messages, deadlineMs: SETTLE_MS_MAX })
  await step('settle what is covered', settled(client, name))
  await step('compress', client.contexts.compress({ thread: name, agent: name, deadlineMs: SETTLE_MS_MAX }))
  const { states } = await client.threads.get(name)
  const compaction = states.findLast(({ summary }) => summary !== null)?.id
  if (compaction === undefined) throw new Error(`${name}: nothing was summarized`)
  const { messagesRead } = await step('loss', client.summaries.loss({ thread: name, compaction }))
  if (messagesRead === 0) throw new Error(`${name}: the report read no message`)
}

/** Whether the content exceeds the limit of one message. */
async function refused({ client }: Place, name: string, content: string): Promise<void> {
  try {
    await client.messages.append({ agent: name, thread: name, messages: [{ role: 'user', content }] })
  } catch (error) {
    if (error instanceof HeddleError && error.code === 'PAYLOAD_TOO_LARGE') return
    throw error
  }
  throw new Error(`${name}: ${content.length} characters in one message were not refused`)
}

async function settled(client: RemoteClient, thread: string): Promise<void> {
  const startedMs = performance.now()
  for (let waitedMs = 0; waitedMs < SETTLE_MS_MAX; waitedMs = performance.now() - startedMs) {
    const { headSeq, cursors } = await client.threads.get(thread)
    if (Math.min(cursors.prune, cursors.summarize, cursors.embed) >= headSeq) return
    await setTimeout(Math.max(POLL_MS_MIN, waitedMs * POLL_SHARE))
  }
  throw new Error(`${thread} was not settled within ${SETTLE_MS_MAX / 1_000} s`)
}

/** A command on the data of the running server, without starting another process. */
async function cli({ folder, data }: Place, argv: readonly string[]): Promise<void> {
  const output = new PassThrough()
  output.resume()
  const said: string[] = []
  output.on('data', (part: Buffer) => said.push(part.toString()))
  const env = { PATH: process.env['PATH'], HOME: folder, HEDDLE_EMBEDDER: 'hashing', HEDDLE_LOG_LEVEL: 'warn' }
  const host = { stdout: output, stderr: output, env, cwd: folder }
  const code = await runCli([...argv, '--data', data, '--json'], host)
  if (code !== 0) throw new Error(`heddle ${argv.join(' ')} ended with ${code}: ${said.join('')}`)
}
