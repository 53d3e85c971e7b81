import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type PlannedThread, planImport } from '@heddle/cli'
import type { FormatName } from '@heddle/contracts'
import { evalData } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validateAnthropic, validateOpenAiChat } from '../../support/src/validators/index.js'
import { openPipeline, type Pipeline } from '../support.js'

const data = evalData()

/** Recorded sessions of three formats; they are not in the repository. */
async function sessionFiles(folder: string): Promise<string[]> {
  const files: string[] = []
  for (const [name, ending] of [
    ['claude-code', '.jsonl'],
    ['tau-bench', '.json'],
    ['swe-agent', '.traj'],
  ] as const) {
    const entries = await readdir(join(folder, name))
    files.push(...entries.filter((entry) => entry.endsWith(ending)).map((entry) => join(folder, name, entry)))
  }
  return files
}

describe.skipIf(data === null)('recorded sessions of Claude Code, tau-bench and SWE-agent', () => {
  let pipeline: Pipeline
  let planned: PlannedThread[]

  beforeAll(async () => {
    pipeline = await openPipeline()
    await pipeline.start()
    planned = await planImport(await sessionFiles(data ?? ''), { cwd: '/', project: 'tests', format: 'auto' })
  })
  afterAll(() => pipeline?.close())

  test('are stored without losing a message, and a second import adds nothing', async () => {
    for (const { thread, messages } of planned) {
      const append = { agent: 'replay', thread, messages, newAgentRollingWindow: null, deadlineMs: 120_000 }
      expect(await pipeline.client.messages.append(append)).toMatchObject({ stored: messages.length, repeated: 0 })
    }
    for (const { thread, messages, toolCalls, toolResults } of planned) {
      const append = { agent: 'replay', thread, messages, newAgentRollingWindow: null, deadlineMs: 120_000 }
      expect(await pipeline.client.messages.append(append)).toMatchObject({ stored: 0, repeated: messages.length })
      const stored = await pipeline.client.threads.get(thread)
      expect(stored).toMatchObject({ messages: messages.length, toolCalls, toolResults })
      expect(stored.eligible).toBe(stored.imported)
    }
  })

  test('lead to contexts within every budget that both providers accept, with every message accounted for', async () => {
    for (const { thread } of planned) await pipeline.client.threads.waitUntilSettled(thread, { deadlineMs: 120_000 })
    for (const { thread } of planned) {
      const { eligible } = await pipeline.client.threads.get(thread)
      for (const budget of [8_000, 32_000, 100_000]) {
        for (const format of ['openai-chat', 'anthropic'] satisfies FormatName[]) {
          const context = await pipeline.client.contexts.build({ thread, budget, format }, { deadlineMs: 60_000 })
          expect(context.tokensUsed).toBeLessThanOrEqual(budget)
          const check =
            format === 'anthropic' ? validateAnthropic(context as never) : validateOpenAiChat(context.messages as never)
          expect(check).toEqual([])
          expect(context.receipt.eligible).toBe(eligible)
          expect(context.receipt.entries.reduce((sum, entry) => sum + entry.count, 0)).toBe(eligible)
        }
      }
    }
  })

  test('return every condensed message to the byte', async () => {
    const longest = planned.toSorted((left, right) => right.messages.length - left.messages.length)[0]
    if (!longest) throw new Error('there are no sessions')
    await pipeline.client.agents.put('replay', { settings: { rollingWindow: null, budget: 32_000 } })
    await pipeline.client.messages.append({
      agent: 'replay',
      thread: longest.thread,
      messages: [{ role: 'user', content: 'And now?' }],
    })
    await pipeline.client.threads.waitUntilSettled(longest.thread, { deadlineMs: 120_000 })
    const context = await pipeline.client.contexts.build({ thread: longest.thread })
    const condensed = context.receipt.entries.filter((entry) => entry.mode === 'condensed')
    const originals = new Map(longest.messages.map((message) => [message.id, message.content]))
    expect(context.receipt.stateId).not.toBeNull()
    for (const entry of condensed) {
      const recalled = await pipeline.client.recall({
        ref: entry.reference ?? '',
        thread: longest.thread,
        maxTokens: 1_000_000,
      })
      expect(recalled.content).toBe(originals.get(entry.messageId ?? ''))
    }
  })
})

test.skipIf(data === null)('the counts of a Claude Code session equal those of its file', async () => {
  const [file] = (await sessionFiles(data ?? '')).filter((name) => name.endsWith('.jsonl'))
  const records = readFileSync(file ?? '', 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const blocks = records.flatMap((record) => (Array.isArray(record.message?.content) ? record.message.content : []))
  const [planned] = await planImport([file ?? ''], { cwd: '/', project: 'tests', format: 'auto' })
  const assistantIds = new Set(records.flatMap((record) => record.message?.id ?? []))
  expect(planned?.messages.filter((message) => message.role === 'assistant')).toHaveLength(assistantIds.size)
  expect(planned?.toolCalls).toBe(blocks.filter((block) => block.type === 'tool_use').length)
  expect(planned?.toolResults).toBe(blocks.filter((block) => block.type === 'tool_result').length)
})
