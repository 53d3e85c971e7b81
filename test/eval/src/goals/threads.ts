import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Message } from '@heddle/core'
import { z } from 'zod'
import { toMessage } from '../messages.js'
import { readSessions } from '../sessions.js'

const call = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) })
const tauSchema = z.array(
  z.object({
    traj: z.array(
      z.object({
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        content: z.string().nullable(),
        name: z.string().optional(),
        tool_call_id: z.string().optional(),
        tool_calls: z.array(call).nullish(),
      }),
    ),
  }),
)
const beamSchema = z.object({
  chat: z.array(
    z.object({
      turns: z.array(z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() }))),
    }),
  ),
})

const BEAM_CHATS = [1, 3, 5, 7]
/** BEAM ends its messages with marks of their place. */
const BEAM_MARK = /\s*->->\s*[\d,]+\s*$/

/** The recorded conversations by the names in the labels. */
export async function labelledThreads(dataDir: string): Promise<ReadonlyMap<string, readonly Message[]>> {
  const threads = new Map<string, readonly Message[]>()
  for (const { thread, messages } of await readSessions(dataDir)) threads.set(thread, messages.map(toMessage))
  const runs = tauSchema.parse(await readJson(join(dataDir, 'tau-bench', 'airline-dev.json')))
  for (const [index, { traj }] of runs.entries()) {
    threads.set(
      `tau-${index}`,
      traj.map(({ role, content, name, tool_call_id: callId, tool_calls: calls }, at) =>
        toMessage(
          {
            id: idOf(at),
            role: role === 'tool' ? 'tool_result' : role,
            content: content ?? '',
            ...(name !== undefined && { toolName: name }),
            ...(callId !== undefined && { toolCallId: callId }),
            toolCalls: (calls ?? []).map(({ id, function: called }) => ({ id, ...called })),
          },
          at,
        ),
      ),
    )
  }
  for (const number of BEAM_CHATS) {
    const { chat } = beamSchema.parse(await readBeam(dataDir, number))
    const turns = chat.flatMap((batch) => batch.turns.flat())
    threads.set(
      `beam-${number}`,
      turns.map(({ role, content }, at) =>
        toMessage({ id: idOf(at), role, content: content.replace(BEAM_MARK, '') }, at),
      ),
    )
  }
  return threads
}

/** Chats are lists of batches, with or without an object around them. */
async function readBeam(dataDir: string, number: number): Promise<unknown> {
  const read = await readJson(join(dataDir, 'beam', `chat-${number}.json`))
  return Array.isArray(read) ? { chat: read } : read
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}

function idOf(at: number): string {
  return String(at).padStart(8, '0')
}
