import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@heddle/test-support'
import type { HookRun } from '@heddle/test-support/claude-code/run-hooks'
import { codexEvents, type RecordedEvent } from '@heddle/test-support/codex/hook-events'
import {
  type CodexHookInput,
  hookOutputSchemas,
  hooksFileSchema,
  marketplaceFileSchema,
  pluginFileSchema,
} from '@heddle/test-support/codex/hook-schemas'
import { pluginFolder, runHook } from '@heddle/test-support/codex/run-hooks'
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
  dataFolder = await mkdtemp(join(tmpdir(), 'heddle-codex-'))
})
afterAll(() => rm(dataFolder, { recursive: true, force: true }))

const json = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'))
const eventsOf = (session: string, transcript: string | null = null) =>
  codexEvents(sessionLines(), { session, transcript, cwd: '/repo' })

async function run(event: CodexHookInput, url = http.url): Promise<HookRun> {
  const done = await runHook(event, { url, dataFolder })
  if (done.output !== null) hookOutputSchemas[event.hook_event_name].parse(done.output)
  expect(done.code).toBe(0)
  return done
}

const replacedIn = ({ output }: HookRun) => (output as { reason?: string } | null)?.reason
const contextIn = ({ output }: HookRun) =>
  (output as { hookSpecificOutput?: { additionalContext?: string } } | null)?.hookSpecificOutput?.additionalContext
const referenceIn = (text: string) => /\[recall:(msg-[0-9a-z]+)\]/.exec(text)?.[1] ?? ''

async function storedIn(thread: string) {
  return (await pipeline.client.messages.list({ thread, limit: 500, order: 'asc' })).items
}

async function expectRecorded(thread: string, events: readonly RecordedEvent[]): Promise<void> {
  const items = await storedIn(thread)
  for (const { event, original } of events) {
    if (event.hook_event_name === 'UserPromptSubmit') {
      expect(items.filter(({ content }) => content === event.prompt)).toHaveLength(1)
    }
    if (event.hook_event_name !== 'PostToolUse') continue
    const results = items.filter(({ toolCallId }) => toolCallId === event.tool_use_id)
    expect(results).toHaveLength(1)
    if (original !== null) expect(results).toMatchObject([{ content: original }])
  }
}

test('the files of the plugin have the documented form, and its gateway is that of Claude Code', async () => {
  hooksFileSchema.parse(await json(`${pluginFolder}/hooks/hooks.json`))
  const plugin = pluginFileSchema.parse(await json(`${pluginFolder}/.codex-plugin/plugin.json`))
  const marketplace = marketplaceFileSchema.parse(await json(`${pluginFolder}/../../.agents/plugins/marketplace.json`))
  expect(marketplace.plugins).toMatchObject([{ name: plugin.name, source: { path: './plugins/codex' } }])
  expect(await json(`${pluginFolder}/.mcp.json`)).toMatchObject({ mcpServers: { heddle: { url: expect.any(String) } } })
  for (const file of ['send.sh', 'gateway.mjs', 'session.mjs', 'transcript.mjs']) {
    const copies = ['codex', 'claude-code'].map((name) => readFile(`${pluginFolder}/../${name}/hooks/${file}`, 'utf8'))
    const [own, other] = await Promise.all(copies)
    expect(own).toBe(other)
  }
})

test('a session is recorded once, long outputs become stubs, and all are recalled byte for byte', async () => {
  const session = 'codex-recorded'
  const events = eventsOf(session)
  let stubs = 0
  for (const { event, original } of events) {
    const replaced = replacedIn(await run(event))
    if (replaced === undefined) continue
    stubs++
    expect(replaced.length).toBeLessThan(6_000)
    const recalled = { ref: referenceIn(replaced), thread: session, offset: 0, limit: 1_000_000 }
    expect((await pipeline.client.recall(recalled)).content).toBe(original)
    // A repeat is recorded once, and answered in the same way.
    expect(replacedIn(await run(event))).toBe(replaced)
  }
  expect(stubs).toBeGreaterThan(2)
  await expectRecorded(session, events)
  const { items: processes } = await pipeline.client.processes.list(session)
  expect(processes).toMatchObject([{ name: 'codex', status: 'ended: other' }])
  await waitFor(async () => {
    const { items: snapshots } = await pipeline.client.snapshots.history('codex')
    return snapshots.some(({ description }) => description === `before a compaction of ${session}`)
  })
})

test('after a compaction a session has its last requests, next steps and files, in 10,000 bytes', async () => {
  const session = 'codex-compacted'
  let context = ''
  for (const { event } of eventsOf(session)) {
    const wide =
      event.hook_event_name === 'UserPromptSubmit'
        ? { ...event, prompt: `${event.prompt} ${'ü€ '.repeat(700)}` }
        : event
    context = contextIn(await run(wide)) ?? context
  }
  expect(Buffer.byteLength(context)).toBeLessThanOrEqual(10_000)
  expect(context).toContain('now the date parser, please: "31.12." has to be the end of THIS year')
  expect(context).toContain('In progress: Parse dates without a year')
  expect(context).toContain('src/dates.ts: edited once (msg-')
})

test('without Heddle the agent goes on, hears of it once, and what was said and done is recorded afterwards', async () => {
  const session = 'codex-interrupted'
  const transcript = join(dataFolder, 'rollout.jsonl')
  const events = eventsOf(session, transcript)
  const relay = await startRelay(() => http.url)
  await relay.stop()
  const messages: unknown[] = []
  for (const { event } of events) {
    const { output } = await run(event, relay.url)
    if (output !== null) messages.push(output)
  }
  expect(messages).toEqual([{ systemMessage: expect.stringContaining('Heddle did not answer') }])
  // A call that failed is only in the rollout.
  const timestamp = new Date().toISOString()
  const record = (payload: object) => JSON.stringify({ timestamp, type: 'response_item', payload })
  const call = { name: 'exec_command', arguments: '{"cmd":"npm run lint"}', call_id: 'call_failed' }
  const failed = { type: 'function_call_output', call_id: 'call_failed', output: 'lint failed' }
  await writeFile(transcript, `${record({ type: 'function_call', ...call })}\n${record(failed)}\n`)

  await relay.start()
  // Of the one destination that was away: the others have left nothing.
  const keptIn = async () =>
    (await readdir(dataFolder, { recursive: true })).filter((name) => /\/.*\.jsonl?$/.test(name))
  const [name = ''] = (await keptIn()).filter((each) => each.endsWith(`${session}.json`))
  const statePath = join(dataFolder, name)
  const { sinceMs } = (await json(statePath)) as { sinceMs: number }
  const compaction = events.find(({ event }) => event.hook_event_name === 'PreCompact')?.event as CodexHookInput
  // A hook waits two seconds; on a busy machine the next one makes up for it.
  await waitFor(
    async () => {
      // The moment of the next attempt has come.
      await writeFile(statePath, JSON.stringify({ sinceMs, triedMs: 0 }))
      await run(compaction, relay.url)
      return (await keptIn()).length === 0
    },
    { timeoutMs: 60_000 },
  )
  await relay.stop()
  await expectRecorded(session, events)
  const items = await storedIn(session)
  expect(items.find(({ toolCallId }) => toolCallId === 'call_failed')).toMatchObject({ content: 'lint failed' })
  expect(items.find(({ toolCalls }) => toolCalls?.[0]?.id === 'call_failed')).toMatchObject({
    toolCalls: [{ name: 'Bash', arguments: { command: 'npm run lint' } }],
  })
})
