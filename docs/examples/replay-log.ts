import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { RemoteClient } from '@heddle/client/http'

const BATCH_MESSAGES = 100

/**
 * Sends a log of a chat to Heddle: a JSON object with `at`, `session`, `role` and `text` on each line. Ids come from the
 * content and the place of a line, so a replay that broke off is started again from the beginning, and stores nothing twice.
 *
 * @returns how many messages were new
 */
export async function replayLog(
  heddle: RemoteClient,
  { path, agent }: { path: string; agent: string },
): Promise<number> {
  const waiting = new Map<string, { id: string; role: 'user' | 'assistant'; content: string; sentAt: string }[]>()
  let stored = 0
  const send = async (thread: string) => {
    const messages = waiting.get(thread) ?? []
    waiting.delete(thread)
    stored += (await heddle.messages.append({ agent, thread, messages })).stored
  }
  let place = 0
  for await (const line of createInterface({ input: createReadStream(path) })) {
    place += 1
    if (line.trim() === '') continue
    const { at, session, role, text } = JSON.parse(line)
    const batch = waiting.get(session) ?? []
    batch.push({ id: idOf(`${path}:${place}:${line}`), role, content: text, sentAt: at })
    waiting.set(session, batch)
    if (batch.length >= BATCH_MESSAGES) await send(session)
  }
  for (const thread of [...waiting.keys()]) await send(thread)
  return stored
}

/** A UUID of version 8, which is what ids of one's own making are. */
function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
