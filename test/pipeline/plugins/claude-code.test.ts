import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@heddle/test-support'
import { hookEvents, type RecordedEvent } from '@heddle/test-support/claude-code/hook-events'
import {
  hookOutputSchemas,
  hooksFileSchema,
  marketplaceFileSchema,
  pluginFileSchema,
  toolOutputSchema,
} from '@heddle/test-support/claude-code/hook-schemas'
import { type HookRun, pluginFolder, runHooks } from '@heddle/test-support/claude-code/run-hooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRelay } from '../adapters/relay.js'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'
import { sessionLines } from './claude-code-session.js'

let pipeline: Pipeline
let http: Served
let dataFolder: string

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})
beforeAll(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'heddle-plugin-'))
})
afterAll(() => rm(dataFolder, { recursive: true, force: true }))

const json = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'))
const eventsOf = (session: string) => hookEvents(sessionLines(), { session, transcript: '/none', cwd: '/repo' })

async function run({ event }: RecordedEvent, url = http.url): Promise<HookRun> {
  const [only, ...more] = await runHooks(event, { url, dataFolder })
  if (only === undefined || more.length > 0) throw new Error(`${event.hook_event_name} has not exactly one hook`)
  const schema = hookOutputSchemas[event.hook_event_name as keyof typeof hookOutputSchemas]
  if (only.output !== null) schema.parse(only.output)
  return only
}

const replacedIn = ({ output }: HookRun) =>
  (output as { hookSpecificOutput?: { updatedToolOutput?: unknown } } | null)?.hookSpecificOutput?.updatedToolOutput
const contextIn = ({ output }: HookRun) =>
  (output as { hookSpecificOutput?: { additionalContext?: string } } | null)?.hookSpecificOutput?.additionalContext

test('the files of the plugin have the documented form', async () => {
  hooksFileSchema.parse(await json(`${pluginFolder}/hooks/hooks.json`))
  const plugin = pluginFileSchema.parse(await json(`${pluginFolder}/.claude-plugin/plugin.json`))
  const marketplace = marketplaceFileSchema.parse(await json(`${pluginFolder}/../../.claude-plugin/marketplace.json`))
  expect(marketplace.plugins).toEqual([expect.objectContaining({ name: plugin.name, source: './plugins/claude-code' })])
  expect(await json(`${pluginFolder}/.mcp.json`)).toMatchObject({ mcpServers: { heddle: { type: 'http' } } })
})

test('a session is recorded once, long outputs become stubs in their own shape, and all are recalled byte for byte', async () => {
  const session = 'recorded-session'
  const events = eventsOf(session)
  let stubs = 0
  for (const recorded of events) {
    const done = await run(recorded)
    expect(done.code).toBe(done.type === 'http' ? 200 : 0)
    const replaced = replacedIn(done)
    if (replaced === undefined) continue
    stubs++
    toolOutputSchema(String(recorded.event['tool_name'])).parse(replaced)
    const [, reference = ''] = /\[recall:(msg-[0-9a-z]+)\]/.exec(JSON.stringify(replaced)) ?? []
    const { content } = await pipeline.client.recall({ ref: reference, thread: session, offset: 0, limit: 1_000_000 })
    expect(content).toBe(recorded.original)
    expect(JSON.stringify(replaced).length).toBeLessThan(6_000)
    // A repeat is recorded once, and answered in the same way.
    expect(replacedIn(await run(recorded))).toEqual(replaced)
  }
  expect(stubs).toBe(3)
  const { items } = await pipeline.client.messages.list({ thread: session, limit: 500, order: 'asc' })
  for (const { event, original } of events) {
    if (event.hook_event_name === 'UserPromptSubmit') {
      expect(items.filter(({ content }) => content === event['prompt'])).toHaveLength(1)
    }
    if (event['tool_use_id'] === undefined || original === null) continue
    expect(items.filter(({ toolCallId }) => toolCallId === event['tool_use_id'])).toMatchObject([{ content: original }])
  }
  const { items: processes } = await pipeline.client.processes.list(session)
  expect(processes).toMatchObject([{ name: 'claude-code', status: 'ended: other' }])
  await waitFor(async () => {
    const { items: snapshots } = await pipeline.client.snapshots.history('claude-code')
    return snapshots.some(({ description }) => description === `before a compaction of ${session}`)
  })
})

test('after a compaction a session has its constraints, last requests, next steps and files', async () => {
  const session = 'compacted-session'
  let context = ''
  for (const recorded of eventsOf(session)) {
    if (recorded.event.hook_event_name === 'PreCompact') {
      const { items } = await pipeline.client.messages.list({ thread: session, limit: 100, order: 'asc' })
      const rule = items.find(({ content }) => content.includes('changelog'))
      await pipeline.client.pins.set({ thread: session, messageId: rule?.reference ?? '' })
    }
    const text = contextIn(await run(recorded))
    if (text !== undefined) context = text
  }
  expect(context.length).toBeLessThanOrEqual(10_000)
  const [, constraints = '', requests = '', next = '', files = ''] = context.split(/\n\n## /)
  expect(constraints).toContain('Write every change into the changelog')
  expect(requests).toContain('now the date parser, please: "31.12." has to be the end of THIS year')
  expect(next).toContain('In progress: Parse dates without a year')
  expect(files).toContain('src/dates.ts: edited once (msg-')
})

test('without Heddle the agent goes on, hears of it once, and what was said and done is recorded afterwards', async () => {
  const session = 'interrupted-session'
  const transcript = join(dataFolder, 'transcript.jsonl')
  const timed = sessionLines().map((line) =>
    JSON.stringify({ timestamp: new Date().toISOString(), ...JSON.parse(line) }),
  )
  const events = hookEvents(timed, { session, transcript, cwd: '/repo' })
  const relay = await startRelay(() => http.url)
  await relay.stop()
  const messages: unknown[] = []
  for (const recorded of events) {
    const { type, code, output } = await run(recorded, relay.url)
    expect(code).toBe(0)
    if (type === 'command' && output !== null) messages.push(output)
    else expect(output).toBeNull()
  }
  expect(messages).toEqual([{ systemMessage: expect.stringContaining('Heddle did not answer') }])

  await relay.start()
  // Of the one destination that was away: the others have left nothing.
  const keptIn = async () =>
    (await readdir(dataFolder, { recursive: true })).filter((name) => /\/.*\.jsonl?$/.test(name))
  const [name = ''] = (await keptIn()).filter((each) => each.endsWith(`${session}.json`))
  const statePath = join(dataFolder, name)
  const { sinceMs } = (await json(statePath)) as { sinceMs: number }
  // The moment of the next attempt has come, and the transcript began after the first one.
  const due = JSON.stringify({ sinceMs: sinceMs - 60_000, triedMs: 0 })
  await writeFile(transcript, `${timed.join('\n')}\n`)
  const compaction = events.find(({ event }) => event.hook_event_name === 'PreCompact') as RecordedEvent
  // A hook waits two seconds; on a busy machine the next one makes up for it.
  await waitFor(
    async () => {
      await writeFile(statePath, due)
      await run(compaction, relay.url)
      return (await keptIn()).length === 0
    },
    { timeoutMs: 60_000 },
  )
  await relay.stop()
  const { items } = await pipeline.client.messages.list({ thread: session, limit: 500, order: 'asc' })
  for (const { event } of events) {
    if (event.hook_event_name === 'UserPromptSubmit')
      expect(items.filter(({ content }) => content === event['prompt'])).toHaveLength(1)
    if (event['tool_use_id'] !== undefined)
      expect(items.filter(({ toolCallId }) => toolCallId === event['tool_use_id'])).toHaveLength(1)
  }
})

test('calls that were sent in vain before a command noticed the outage are recorded afterwards, too', async () => {
  const session = 'interrupted-turn'
  const transcript = join(dataFolder, 'turn.jsonl')
  const beganMs = Date.now() - 3_600_000
  const timed = sessionLines().map((line, index) =>
    JSON.stringify({ ...JSON.parse(line), timestamp: new Date(beganMs + index * 1_000).toISOString() }),
  )
  const events = hookEvents(timed, { session, transcript, cwd: '/repo' })
  const nameOf = ({ event }: RecordedEvent) => event.hook_event_name
  const prompt = events.findIndex(
    (one, at) => nameOf(one) === 'UserPromptSubmit' && nameOf(events[at + 1] ?? one) === 'PostToolUse',
  )
  const stop = events.findIndex((one, at) => at > prompt && nameOf(one) === 'Stop')
  const calls = events.slice(prompt + 1, stop)
  await writeFile(transcript, `${timed.slice(0, events[stop]?.record).join('\n')}\n`)
  const relay = await startRelay(() => http.url)
  for (const recorded of events.slice(0, prompt + 1)) await run(recorded, relay.url)
  await relay.stop()
  for (const recorded of events.slice(prompt + 1, stop + 1)) await run(recorded, relay.url)
  await relay.start()
  const [statePath = ''] = (await readdir(dataFolder, { recursive: true })).filter((name) =>
    name.endsWith(`${session}.json`),
  )
  const { sinceMs } = (await json(join(dataFolder, statePath))) as { sinceMs: number }
  // The moment of the next attempt has come. A hook waits two seconds; on a busy machine the next one makes up for it.
  const stored = async () => (await pipeline.client.messages.list({ thread: session, limit: 500, order: 'asc' })).items
  const isStored = async ({ event }: RecordedEvent) =>
    (await stored()).filter(({ toolCallId }) => toolCallId === event['tool_use_id']).length === 1
  await waitFor(
    async () => {
      await writeFile(join(dataFolder, statePath), JSON.stringify({ sinceMs, triedMs: 0 }))
      await run(events[stop + 1] as RecordedEvent, relay.url)
      return (await Promise.all(calls.map(isStored))).every(Boolean)
    },
    { timeoutMs: 60_000 },
  )
  await relay.stop()
  expect(calls.length).toBeGreaterThan(0)
})
