import { type Message, messageReference, pairToolCalls, type SummarySource, summarySources } from '@heddle/core'
import { toMessage } from '../messages.js'
import { readSessions } from '../sessions.js'
import { namesOf } from './names.js'

/** Messages after a compaction that show which earlier names were needed. */
const LATER_MESSAGES_MAX = 200

/** A compaction by an agent in a recorded session. */
export interface Compaction {
  readonly thread: string
  /** The messages that the agent summarized, as input of a summarizer. */
  readonly sources: readonly SummarySource[]
  readonly agentSummary: string
  /** Names before the compaction that the agent's summary has. */
  readonly kept: ReadonlySet<string>
  /** Names before the compaction that occur again soon after it. */
  readonly reused: ReadonlySet<string>
}

export async function readCompactions(dataDir: string): Promise<Compaction[]> {
  const threads = await readSessions(dataDir)
  return threads.flatMap(({ thread, messages: given }) => {
    const messages = given.map(toMessage)
    const boundaries = messages.flatMap(({ keptAside }, index) => (keptAside === 'compact-summary' ? [index] : []))
    return boundaries.map((at, index): Compaction => {
      const before = messages.slice(index === 0 ? 0 : (boundaries[index - 1] ?? 0) + 1, at)
      const after = messages.slice(at + 1, at + 1 + LATER_MESSAGES_MAX)
      const names = namesIn(before)
      const agentSummary = messages[at]?.content ?? ''
      return {
        thread,
        sources: summarySources(before, pairToolCalls(before), ({ code }) => messageReference(code)),
        agentSummary,
        kept: shared(namesOf(agentSummary), names),
        reused: shared(namesIn(after.filter(({ keptAside }) => keptAside === null)), names),
      }
    })
  })
}

export function namesIn(messages: readonly Message[]): Set<string> {
  const names = new Set<string>()
  for (const { content, toolCalls } of messages) {
    const texts = [content, ...toolCalls.flatMap((call) => stringsIn(call.arguments))]
    for (const text of texts) for (const name of namesOf(text)) names.add(name)
  }
  return names
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}

function shared(names: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...names].filter((name) => others.has(name)))
}
