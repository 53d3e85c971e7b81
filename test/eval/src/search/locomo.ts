import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Conversation } from './conversation.js'

interface Turn {
  readonly speaker: string
  readonly dia_id: string
  readonly text: string
}

interface Sample {
  readonly conversation: Readonly<Record<string, unknown>>
  readonly qa: readonly { question: string; category: number; evidence?: readonly string[] }[]
}

const SESSION = /^session_(\d+)$/

/** LoCoMo as agents with a thread for each session and a message for each turn; questions without evidence are left out. */
export function readLocomo(dataDir: string): Conversation[] {
  const samples = JSON.parse(readFileSync(join(dataDir, 'locomo', 'dev.json'), 'utf8')) as Sample[]
  return samples.map(({ conversation, qa }, index) => {
    const agent = `conversation ${index + 1}`
    const sessions = Object.entries(conversation)
      .flatMap(([key, turns]) => (SESSION.test(key) ? [{ number: sessionNumber(key), turns: turns as Turn[] }] : []))
      .sort((left, right) => left.number - right.number)
    return {
      kind: 'locomo' as const,
      agent,
      threads: sessions.map(({ number, turns }) => ({
        agent,
        thread: `${agent}, session ${number}`,
        messages: turns.map(({ speaker, dia_id: sourceId, text }) => ({
          id: randomUUID(),
          sourceId,
          role: speaker === conversation['speaker_a'] ? ('user' as const) : ('assistant' as const),
          content: text,
          sentAt: sessionTime(conversation[`session_${number}_date_time`]),
          metadata: { name: speaker },
        })),
      })),
      questions: qa.flatMap(({ question, category, evidence = [] }) => {
        const turns = new Set(evidence.flatMap(turnsOf))
        return turns.size === 0 ? [] : [{ text: question, ability: `category${category}`, evidence: turns }]
      }),
    }
  })
}

function sessionNumber(key: string): number {
  return Number(SESSION.exec(key)?.[1])
}

/** `1:56 pm on 8 May, 2023` as an ISO time; the zone is unknown. */
function sessionTime(said: unknown): string | undefined {
  const [, hour, minute, half, day] = /^(\d+):(\d+) (am|pm) on (.+)$/.exec(String(said)) ?? []
  if (day === undefined) return undefined
  const midnightMs = Date.parse(`${day.replace(',', '')} UTC`)
  return new Date(
    midnightMs + ((Number(hour) % 12) + (half === 'pm' ? 12 : 0)) * 3_600_000 + Number(minute) * 60_000,
  ).toISOString()
}

/** `D1:3; D:12:04` names D1:3 and D12:4. */
function turnsOf(evidence: string): string[] {
  return [...evidence.matchAll(/D:?(\d+):(\d+)/g)].map(([, session, turn]) => `D${Number(session)}:${Number(turn)}`)
}
