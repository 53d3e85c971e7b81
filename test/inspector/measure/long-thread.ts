import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { createClient } from '@heddle/client/http'
import type { NewMessage } from '@heddle/client/interface'
import { parseSession } from '@heddle/sessions'

type Client = ReturnType<typeof createClient>

const SESSION = new URL('../../../packages/cli/assets/demo-session.jsonl.gz', import.meta.url)
const AGENT = 'long-runner'
const AT_ONCE = 100
const POLL_EVERY_MS = 1_000

interface ThreadToFill {
  readonly thread: string
  readonly messages: number
  /** Of the contexts that compactions prepare, in tokens. */
  readonly budget: number
}

/** A thread of as many messages, which repeats the recorded session of the demo, and waits for its compactions. */
export async function fillThread(client: Client, { thread, messages, budget }: ThreadToFill): Promise<void> {
  await client.agents.put(AGENT, { settings: { rollingWindow: null, budget } })
  const recorded = await recordedMessages()
  const startMs = Date.now() - (messages + 1) * 1_000
  for (let sent = 0; sent < messages; sent += AT_ONCE) {
    const places = Array.from({ length: Math.min(AT_ONCE, messages - sent) }, (_, index) => sent + index)
    const batch = places.map((place) => repeated(recorded, place, startMs))
    await client.messages.append({ agent: AGENT, thread, messages: batch })
  }
  for (;;) {
    const { headSeq, cursors } = await client.threads.get(thread)
    if (Math.min(cursors.prune, cursors.summarize) >= headSeq) return
    await pause(POLL_EVERY_MS)
  }
}

/** @returns the id of a context that is as full as the messages of the thread make it */
export async function buildLargeContext(
  client: Client,
  { thread, tokens }: { readonly thread: string; readonly tokens: number },
): Promise<string> {
  // Two of them, since a context is compared with the one before it.
  const request = { thread, budget: tokens, format: 'anthropic', fill: 'budget' } as const
  await client.contexts.build(request)
  const { id } = await client.contexts.build({ ...request, message: 'What is left to do?' })
  return id
}

async function recordedMessages(): Promise<readonly NewMessage[]> {
  const text = gunzipSync(await readFile(SESSION)).toString('utf8')
  const { threads } = parseSession(text, { fileName: 'demo-session.jsonl', format: 'auto' })
  return (threads[0]?.messages ?? []).map(({ input }) => input as NewMessage)
}

function repeated(recorded: readonly NewMessage[], place: number, startMs: number): NewMessage {
  const message = recorded[place % recorded.length]
  if (message === undefined) throw new Error('the recorded session has no messages')
  const round = Math.floor(place / recorded.length)
  const { role, content, toolCalls, toolCallId, toolName, isError } = message
  return {
    role,
    content,
    toolCalls: toolCalls?.map((call) => ({ ...call, id: `${call.id}-${round}` })),
    toolCallId: toolCallId === undefined ? undefined : `${toolCallId}-${round}`,
    toolName,
    isError,
    sentAt: new Date(startMs + place * 1_000).toISOString(),
  }
}
