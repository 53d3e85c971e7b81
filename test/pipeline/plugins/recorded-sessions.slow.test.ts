import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evalData } from '@heddle/test-support'
import { hookEvents } from '@heddle/test-support/claude-code/hook-events'
import { codexEvents } from '@heddle/test-support/codex/hook-events'
import { hookOutputSchemas } from '@heddle/test-support/codex/hook-schemas'
import { runHook } from '@heddle/test-support/codex/run-hooks'
import { OpenCodeSession } from '@heddle/test-support/opencode/session'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Heddle } from '../../../plugins/opencode/heddle.js'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

const data = evalData()

/** Calls of a session that are replayed through a process each. */
const CALLS_MAX = 200

describe.skipIf(data === null)('recorded sessions', () => {
  let pipeline: Pipeline
  let http: Served
  let dataFolder: string

  servePipeline((opened) => {
    ;({ pipeline, http } = opened)
  })
  beforeAll(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), 'heddle-recorded-'))
  })
  afterAll(() => rm(dataFolder, { recursive: true, force: true }))

  const recall = async (thread: string, ref: string) =>
    (await pipeline.client.recall({ ref, thread, offset: 0, limit: 1_000_000 })).content

  /** The session with the most calls. */
  async function recorded(): Promise<string[]> {
    const folder = join(data ?? '', 'claude-code')
    const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    const calls = (text: string) => text.split('"tool_result"').length
    const [text = ''] = texts.toSorted((left, right) => calls(right) - calls(left))
    return text.split('\n').filter(Boolean)
  }

  test('in OpenCode are recorded, every output is recalled byte for byte, and a compaction gives the last request back', async () => {
    const thread = 'recorded-opencode'
    const query = '?outputTokensMax=1000&stubTokensMax=300'
    const session = await OpenCodeSession.start(Heddle, thread, { url: http.url, query, answerMs: 30_000 })
    const requests: string[] = []
    let [stubs, calls] = [0, 0]
    for (const { event, original } of hookEvents(await recorded(), { session: 's', transcript: '', cwd: '/' })) {
      if (event.hook_event_name === 'UserPromptSubmit') {
        const request = String(event['prompt'])
        // Not what a command of the program wrote.
        if (!request.startsWith('<')) requests.push(request.trim())
        await session.prompt(request)
      }
      if (event.hook_event_name === 'Stop') await session.say(String(event['last_assistant_message']))
      if (event.hook_event_name !== 'PostToolUse' || original === null || original.length < 200) continue
      const input = event['tool_input'] as Record<string, unknown>
      const { output, metadata } = await session.call(String(event['tool_name']).toLowerCase(), input, original)
      const { reference } = metadata['heddle'] as { reference: string }
      calls++
      if (output !== original) stubs++
      expect(await recall(thread, reference)).toBe(original)
    }
    process.stdout.write(`${calls} outputs, ${stubs} stubs\n`)
    expect(stubs).toBeGreaterThan(0)
    const [text = ''] = await session.compact('A summary.')
    const last = requests.at(-1)?.slice(0, 100).split('\n')[0] ?? ''
    expect(last).not.toBe('')
    expect(text).toContain(last)
  }, 300_000)

  test('in Codex are recorded, and every output of 200 calls is recalled byte for byte', async () => {
    const session = 'recorded-codex'
    const events = codexEvents(await recorded(), { session, transcript: null, cwd: '/' })
    const calls = events.filter(({ event }) => event.hook_event_name === 'PostToolUse').slice(0, CALLS_MAX)
    let stubs = 0
    const took: number[] = []
    for (const { event } of calls) {
      const { output, ms } = await runHook(event, { url: http.url, dataFolder })
      took.push(ms)
      if (output !== null) hookOutputSchemas.PostToolUse.parse(output)
      if ((output as { reason?: string } | null)?.reason !== undefined) stubs++
    }
    const median = took.toSorted((left, right) => left - right)[Math.floor(took.length / 2)] ?? 0
    process.stdout.write(`${calls.length} hooks, median ${median.toFixed(0)} ms, ${stubs} stubs\n`)
    for (const { event, original } of calls) {
      if (event.hook_event_name !== 'PostToolUse' || original === null) continue
      const { items } = await pipeline.client.messages.find({ sourceId: event.tool_use_id, thread: session })
      const ref = items.find(({ role }) => role === 'tool_result')?.reference ?? ''
      expect(await recall(session, ref)).toBe(original)
    }
  }, 600_000)
})
