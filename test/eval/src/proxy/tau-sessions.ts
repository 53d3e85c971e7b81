import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { fillerTools } from './filler.js'
import type { Block, ReplaySession } from './session.js'

const runsSchema = z.array(
  z.looseObject({
    task_id: z.number(),
    trial: z.number(),
    traj: z.array(z.looseObject({ role: z.enum(['system', 'user', 'assistant', 'tool']) })),
  }),
)

/** The runs have no times: a person needs about half a minute for an answer, and a tool a second. */
const PERSON_MS = 30_000
const TOOL_MS = 1_000
const MODEL = 'gpt-4o'
/** The airline's tools are short. */
const TOOLS_SIZE = 0.2

/** The recorded runs of tau-bench, each as the requests that its agent sent to chat completions. */
export async function readTauSessions(dataDir: string): Promise<ReplaySession[]> {
  const runs = runsSchema.parse(JSON.parse(await readFile(join(dataDir, 'tau-bench', 'airline-dev.json'), 'utf8')))
  const names = new Set(runs.flatMap(({ traj }) => traj.flatMap(toolsIn)))
  const tools = fillerTools([...names].sort(), TOOLS_SIZE).map((tool) => ({ type: 'function', function: tool }))
  return runs.map(({ task_id: task, trial, traj }): ReplaySession => {
    let atMs = Date.parse('2026-02-01T00:00:00Z')
    const requests = traj.flatMap((message, index) => {
      atMs += message.role === 'user' ? PERSON_MS : TOOL_MS
      const isRequest = message.role === 'assistant' && index > 0
      return isRequest
        ? [{ atMs, history: traj.slice(0, index), reply: [message], purpose: 'agent' as const, recorded: null }]
        : []
    })
    return {
      name: `tau-${task}-${trial}`,
      protocol: 'openai-chat',
      model: MODEL,
      requests,
      body: (messages) => JSON.stringify({ model: MODEL, messages, tools, temperature: 0 }),
      ask: (text) => ({ role: 'user', content: text }),
      answer: (reply) => reply,
    }
  })
}

function toolsIn(message: Block): string[] {
  const calls: unknown = message['tool_calls']
  if (!Array.isArray(calls)) return []
  return calls.flatMap((call: { function?: { name?: string } }) =>
    call.function?.name === undefined ? [] : [call.function.name],
  )
}
