import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Conversation, Question } from './conversation.js'

interface Chat {
  readonly turns: readonly (readonly { role: 'user' | 'assistant'; id: number; content: string }[])[]
}

type Ids = number | readonly Ids[] | { readonly [name: string]: Ids }

interface Asked {
  readonly question: string
  readonly source_chat_ids?: Ids
}

/** BEAM ends its messages with marks of their place. */
const MARK = /\s*->->\s*[\d,]+\s*$/

/** BEAM's chats as agents with one thread each; questions without evidence are left out. */
export function readBeam(dataDir: string): Conversation[] {
  const folder = join(dataDir, 'beam')
  const numbers = readdirSync(folder)
    .flatMap((name) => /^chat-(\d+)\.json$/.exec(name)?.[1] ?? [])
    .sort((left, right) => Number(left) - Number(right))
  return numbers.map((number) => {
    const agent = `chat ${number}`
    const batches = readJson<Chat[]>(join(folder, `chat-${number}.json`))
    const byAbility = readJson<Record<string, Asked[]>>(join(folder, `questions-${number}.json`))
    const messages = batches.flatMap(({ turns }) => turns.flat())
    return {
      kind: 'beam' as const,
      agent,
      threads: [
        {
          agent,
          thread: agent,
          messages: messages.map(({ role, id, content }) => ({
            id: randomUUID(),
            sourceId: String(id),
            role,
            content: content.replace(MARK, ''),
          })),
        },
      ],
      questions: Object.entries(byAbility).flatMap(([ability, asked]) => {
        return asked.flatMap((one) => toQuestion(ability, one) ?? [])
      }),
    }
  })
}

function toQuestion(ability: string, { question, source_chat_ids: ids }: Asked): Question | null {
  const evidence = new Set(idsIn(ids))
  if (evidence.size === 0) return null
  const { original_info: earlier, updated_info: later } = isRecord(ids) ? ids : {}
  return {
    text: question,
    ability,
    evidence,
    ...(earlier !== undefined &&
      later !== undefined && { update: { earlier: new Set(idsIn(earlier)), later: new Set(idsIn(later)) } }),
  }
}

function isRecord(ids: Ids | undefined): ids is { readonly [name: string]: Ids } {
  return typeof ids === 'object' && !Array.isArray(ids)
}

function idsIn(ids: Ids | undefined): string[] {
  if (ids === undefined) return []
  return typeof ids === 'number' ? [String(ids)] : Object.values(ids).flatMap((each: Ids) => idsIn(each))
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, 'utf8')) as Value
}
