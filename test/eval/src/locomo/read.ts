import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GivenThread } from '../pipeline.js'

/** A long conversation between two people, with questions about it. */
export interface Conversation {
  readonly agent: string
  readonly threads: readonly GivenThread[]
  readonly questions: readonly Question[]
}

export interface Question {
  readonly text: string
  readonly category: number
  /** The `dia_id`s of the turns that answer it. */
  readonly evidence: ReadonlySet<string>
}

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
export function readConversations(dataDir: string): Conversation[] {
  const samples = JSON.parse(readFileSync(join(dataDir, 'locomo', 'dev.json'), 'utf8')) as Sample[]
  return samples.map(({ conversation, qa }, index) => {
    const agent = `conversation ${index + 1}`
    const sessions = Object.entries(conversation)
      .flatMap(([key, turns]) => (SESSION.test(key) ? [{ number: sessionNumber(key), turns: turns as Turn[] }] : []))
      .sort((left, right) => left.number - right.number)
    return {
      agent,
      threads: sessions.map(({ number, turns }) => ({
        agent,
        thread: `${agent}, session ${number}`,
        messages: turns.map(({ speaker, dia_id: sourceId, text }) => ({
          id: randomUUID(),
          sourceId,
          role: speaker === conversation['speaker_a'] ? ('user' as const) : ('assistant' as const),
          content: text,
          metadata: { name: speaker },
        })),
      })),
      questions: qa.flatMap(({ question, category, evidence = [] }) => {
        const turns = new Set(evidence.flatMap(turnsOf))
        return turns.size === 0 ? [] : [{ text: question, category, evidence: turns }]
      }),
    }
  })
}

function sessionNumber(key: string): number {
  return Number(SESSION.exec(key)?.[1])
}

/** `D1:3; D:12:04` names D1:3 and D12:4. */
function turnsOf(evidence: string): string[] {
  return [...evidence.matchAll(/D:?(\d+):(\d+)/g)].map(([, session, turn]) => `D${Number(session)}:${Number(turn)}`)
}
