import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { openEvents } from './http-support.js'

/** A gateway, and its key if it requires one. */
export interface JourneyDoor {
  readonly url: string
  readonly key?: string
}

const BUDGET = 6_000
const SETTLE_MS_MAX = 60_000

/**
 * An agent's turn as in docs/http.md: an agent, messages that are stored once, a thread that outgrows its budget and
 * settles, a context, search, recall to the byte, and events of all of it.
 */
export async function takeHttpJourney({ url, key }: JourneyDoor): Promise<void> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const ask = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }), ...more },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
    return { status: response.status, body: (await response.json()) as any }
  }
  const settings = { rollingWindow: null, budget: BUDGET }
  const agent = await ask('PUT', '/agents/coder', { systemPrompt: 'You write code.', settings })
  expect(agent).toMatchObject({ status: 200, body: { name: 'coder', settings } })

  const events = await openEvents(`${url}/v1/events?thread=fix-login`, headers)
  const seen: string[] = []
  const untilEvent = async (topic: string) => {
    while (!seen.includes(topic)) seen.push((await events.next())?.event ?? 'the stream ended')
  }

  const append = (messages: readonly object[], more?: Record<string, string>) =>
    ask('POST', '/threads/fix-login/messages', { agent: 'coder', messages }, more)
  const first = [{ role: 'user', content: 'The login page shows a blank screen.' }]
  const underKey = { 'idempotency-key': 'turn-1' }
  expect(await append(first, underKey)).toMatchObject({ status: 200, body: { stored: 1, repeated: 0 } })
  expect(await append(first, underKey)).toMatchObject({ status: 200, body: { stored: 0, repeated: 1 } })
  const messages = conversation(60)
  expect(await append(messages)).toMatchObject({ status: 200, body: { stored: messages.length, repeated: 0 } })
  await untilEvent('message.stored')
  await expect
    .poll(
      async () => {
        const { cursors, headSeq } = (await ask('GET', '/threads/fix-login')).body
        return Math.min(cursors.prune, cursors.summarize, cursors.embed) === headSeq
      },
      { timeout: SETTLE_MS_MAX },
    )
    .toBe(true)
  await untilEvent('thread.compacted')

  const request = { message: 'Where do we begin?', format: 'openai-chat' }
  const built = await ask('POST', '/threads/fix-login/contexts', request)
  expect(built.status).toBe(200)
  expect(built.body.messages.at(-1)).toEqual({ role: 'user', content: request.message })
  expect(built.body.tokensUsed).toBeLessThanOrEqual(BUDGET)
  await untilEvent('context.built')
  events.close()

  const condensed = built.body.receipt.entries.find(({ mode }: { mode: string }) => mode === 'condensed')
  const recalled = await ask('POST', '/recall', { ref: condensed.reference, thread: 'fix-login', maxTokens: 100_000 })
  expect(recalled.body.content).toBe(messages.find(({ id }) => id === condensed.messageId)?.content)
  const found = await ask('POST', '/search', { query: 'part7', thread: 'fix-login', limit: 2 })
  expect(found.body.items[0]).toMatchObject({ thread: 'fix-login', text: expect.stringContaining('part7') })
}

/** Reads of files, with their results: enough that old ones are condensed. */
function conversation(turns: number) {
  return Array.from({ length: turns }, (_, turn) => {
    const call = { id: `call-${turn}`, name: 'Read', arguments: { file_path: `/repo/src/file${turn}.ts` } }
    const content = `export function part${turn}() {\n  return ${turn}\n}\n`.repeat(12)
    return [
      { id: randomUUID(), role: 'assistant', content: `Reading file ${turn}`, toolCalls: [call] },
      { id: randomUUID(), role: 'tool_result', toolCallId: call.id, content },
    ]
  }).flat()
}
