import type { RemoteClient } from '@heddle/client/http'
import { jsonObjectSchema, type MessageEntry } from '@heddle/contracts'

/**
 * How often each recorded compaction is run once more, on a copy of its thread: there are so few that the longest would be
 * the 99th percentile.
 */
const COPIES = 20
const PAGE = 500
const APPEND_MESSAGES = 100
const WAIT_MS_MAX = 60_000
const POLL_MS = 50

/** A session with the messages of another one. */
export interface CopiedSession {
  readonly session: string
  /** Of its hooks: each copy has an agent of its own, whose window is this session. */
  readonly query: string
}

/** Copies of a session as it is now, each once all stages have seen it, as they have those of people who type. */
export async function* copiesOf(client: RemoteClient, session: string): AsyncGenerator<CopiedSession> {
  const messages = (await entriesOf(client, session)).map(inputOf)
  for (let copy = 1; copy <= COPIES; copy++) {
    const thread = `${session}-${messages.length}-${copy}`
    for (let from = 0; from < messages.length; from += APPEND_MESSAGES) {
      const part = messages.slice(from, from + APPEND_MESSAGES)
      await client.messages.append({ agent: thread, thread, messages: part })
    }
    await poll(`${thread} to settle`, async () => {
      const { headSeq, cursors } = await client.threads.get(thread)
      const { prune, summarize, embed, remember } = cursors
      return Math.min(prune, summarize, embed, remember ?? headSeq) >= headSeq
    })
    yield { session: thread, query: `?agent=${encodeURIComponent(thread)}` }
    // Otherwise the next compaction would meet its work.
    await poll(`the snapshot of ${thread}`, async () => {
      const { items } = await client.snapshots.history(thread)
      return items.some(({ messageCount }) => messageCount > 0)
    })
  }
}

async function entriesOf(client: RemoteClient, thread: string): Promise<MessageEntry[]> {
  const entries: MessageEntry[] = []
  let cursor: string | undefined
  do {
    const page = await client.messages.list({ thread, order: 'asc', limit: PAGE, cursor })
    entries.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return entries
}

function inputOf({ role, content, toolCalls, toolCallId, toolName, isError, metadata }: MessageEntry) {
  return {
    role,
    content,
    ...(toolCalls !== undefined && { toolCalls: [...toolCalls] }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(toolName !== undefined && { toolName }),
    ...(isError !== undefined && { isError }),
    ...(metadata !== undefined && { metadata: jsonObjectSchema.parse(metadata) }),
  }
}

async function poll(what: string, isDone: () => Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + WAIT_MS_MAX
  while (!(await isDone())) {
    if (performance.now() > endsAtMs) throw new Error(`waited for ${what} in vain`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
