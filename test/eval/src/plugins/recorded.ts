import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RemoteClient } from '@heddle/client/http'
import { namesOf } from '../summary/names.js'

/** A recorded session of Claude Code, whose events are replayed through the hooks of a plugin. */
export interface RecordedSession {
  readonly session: string
  readonly path: string
  readonly lines: readonly string[]
}

export async function* recordedSessions(dataDir: string): AsyncGenerator<RecordedSession> {
  const folder = join(dataDir, 'claude-code')
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.jsonl')).sort()) {
    const path = join(folder, name)
    const session = name.replace(/\.jsonl$/, '')
    process.stderr.write(`  ${session}\n`)
    yield { session, path, lines: (await readFile(path, 'utf8')).split('\n').filter(Boolean) }
  }
}

/** An event of a session in the form of some agent, and the text of the output in it. */
export interface ReplayedEvent {
  readonly event: object
  readonly original: string | null
}

/** How many of the names that an agent used after a compaction it has then. */
export interface Judged {
  readonly session: string
  readonly wanted: number
  /** In the text that it is given. */
  readonly direct: number
  /** There, or in the message that a reference of it recalls. */
  readonly recalled: number
}

/** Events after a compaction that show which earlier names were needed. */
const LATER_EVENTS_MAX = 100

export interface Compaction {
  readonly session: string
  readonly events: readonly ReplayedEvent[]
  /** The event of the compaction. */
  readonly at: number
  readonly text: string
}

/** As `summary.reused` judges, over the events in place of messages. */
export async function judge(client: RemoteClient, { session, events, at, text }: Compaction): Promise<Judged> {
  const before = new Set(events.slice(0, at).flatMap((one) => [...namesIn(one)]))
  const after = new Set(events.slice(at + 1, at + 1 + LATER_EVENTS_MAX).flatMap((one) => [...namesIn(one)]))
  const wanted = [...after].filter((name) => before.has(name))
  const inText = namesOf(text)
  const behind = new Set<string>()
  for (const [reference] of text.matchAll(/\bmsg-[0-9a-z]{8,}\b/g)) {
    // The one in the explanation at the beginning.
    if (reference === 'msg-1a2b3c4d') continue
    const { content } = await client.recall({ ref: reference, thread: session, offset: 0, limit: PIECE })
    for (const name of namesOf(content)) behind.add(name)
  }
  const direct = wanted.filter((name) => inText.has(name)).length
  const recalled = wanted.filter((name) => inText.has(name) || behind.has(name)).length
  return { session, wanted: wanted.length, direct, recalled }
}

function namesIn({ event, original }: ReplayedEvent): Set<string> {
  const { prompt, last_assistant_message: said, tool_input: given } = event as Readonly<Record<string, unknown>>
  return namesOf([prompt, said, original, JSON.stringify(given ?? '')].filter(Boolean).join('\n'))
}

/** Characters of one recall. */
const PIECE = 1_000_000

/** The result of a call, through its reference, in pieces as large as a recall allows. */
export async function recallResult(client: RemoteClient, thread: string, call: string): Promise<string> {
  const { items } = await client.messages.find({ sourceId: call, thread })
  const ref = items.find(({ role }) => role === 'tool_result')?.reference ?? ''
  let [text, offset] = ['', 0 as number | null]
  while (offset !== null) {
    const piece = await client.recall({ ref, thread, offset, limit: PIECE })
    text += piece.content
    offset = piece.nextOffset
  }
  return text
}
