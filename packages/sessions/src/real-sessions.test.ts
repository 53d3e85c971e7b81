import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { evalData } from '../../../test/support/src/samples/eval-data.js'
import { parseSession } from './parse.js'
import type { ParsedFile } from './parsed.js'

/** Recorded sessions not written for these tests; each figure is counted again from the raw JSON. */
const folder = evalData()

type Loose = Record<string, unknown>

const filesOf = (name: string, ending: string) =>
  folder === null
    ? []
    : readdirSync(join(folder, name))
        .filter((file) => file.endsWith(ending))
        .map((file) => join(folder, name, file))

function parsedOf(path: string): ParsedFile {
  return parseSession(readFileSync(path, 'utf8'), { fileName: path, format: 'auto' })
}

function rolesOf(file: ParsedFile): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { input } of file.threads.flatMap(({ messages }) => messages))
    counts[input.role] = (counts[input.role] ?? 0) + 1
  return counts
}

describe.skipIf(folder === null)('on real sessions', () => {
  test.each(filesOf('claude-code', '.jsonl'))('every message, call and result of %s is read once', (path) => {
    const records: Loose[] = readFileSync(path, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    const messages = records.flatMap((record): Loose[] =>
      record['message'] ? [{ ...(record['message'] as Loose), type: record['type'] }] : [],
    )
    const blocks = (type: string) =>
      messages
        .flatMap((message) => (Array.isArray(message['content']) ? message['content'] : []))
        .filter((block) => block.type === type)
    const assistantIds = new Set(
      messages.filter((message) => message['type'] === 'assistant').map((message) => message['id']),
    )
    const userTexts = messages.filter(
      (message) =>
        message['type'] === 'user' &&
        (typeof message['content'] === 'string' ||
          (message['content'] as Loose[]).some((block) => block['type'] !== 'tool_result')),
    )

    const file = parsedOf(path)
    expect(file.format).toBe('claude-code')
    expect(file.threads.map(({ suffix }) => suffix)).toEqual([null])
    expect(rolesOf(file)).toEqual({
      assistant: assistantIds.size,
      tool_result: blocks('tool_result').length,
      user: userTexts.length,
    })
    expect(file.threads[0]).toMatchObject({
      toolCalls: blocks('tool_use').length,
      toolResults: blocks('tool_result').length,
    })
    const inputs = file.threads[0]?.messages.map(({ input }) => input) ?? []
    expect(inputs.reduce((sum, input) => sum + (input.thinking?.length ?? 0), 0)).toBe(blocks('thinking').length)
    expect(inputs.filter((input) => input.isError).length).toBe(
      blocks('tool_result').filter((block) => block.is_error).length,
    )
    expect(inputs.filter((input) => input.keptAside).length).toBe(
      records.filter((record) => record['isCompactSummary']).length,
    )
    expect(inputs.filter((input) => input.role === 'tool_result' && input.toolName === undefined)).toEqual([])
    const skipped = Object.values(file.skipped).reduce((sum, count) => sum + count, 0)
    expect(skipped).toBe(records.length - messages.length)
  })

  test('every run, message and call of tau-bench is read', () => {
    const [path = ''] = filesOf('tau-bench', '.json')
    const runs: { traj: Loose[] }[] = JSON.parse(readFileSync(path, 'utf8'))
    const calls = runs.flatMap(({ traj }) => traj).flatMap((message) => (message['tool_calls'] as Loose[] | null) ?? [])
    const file = parsedOf(path)
    expect(file.format).toBe('openai')
    expect(file.threads.map(({ messages }) => messages.length)).toEqual(runs.map(({ traj }) => traj.length))
    expect(file.threads).toHaveLength(40)
    expect(rolesOf(file)).toEqual({ assistant: 571, user: 357, tool_result: 254, system: 40 })
    expect(file.threads.reduce((sum, { toolCalls }) => sum + toolCalls, 0)).toBe(calls.length)
    expect(calls).toHaveLength(254)
    const read = file.threads.flatMap(({ messages }) => messages.flatMap(({ input }) => input.toolCalls ?? []))
    expect(read.map((call) => call.arguments)).toEqual(calls.map((call) => (call['function'] as Loose)['arguments']))
  })

  test.each(filesOf('swe-agent', '.traj'))('the whole history of %s is read', (path) => {
    const { history }: { history: Loose[] } = JSON.parse(readFileSync(path, 'utf8'))
    const file = parsedOf(path)
    expect(file.format).toBe('swe-agent')
    const inputs = file.threads[0]?.messages.map(({ input }) => input) ?? []
    expect(inputs.map((input) => input.content)).toEqual(history.map((entry) => entry['content']))
    expect(inputs.map((input) => input.toolCallId)).toEqual(
      history.map((entry) => (entry['tool_call_ids'] as string[] | undefined)?.[0]),
    )
    expect(inputs.filter((input) => input.metadata)).toEqual([])
  })
})
