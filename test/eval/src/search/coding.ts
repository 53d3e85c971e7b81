import type { PlannedThread } from '@heddle/cli'
import { describeToolCall, queryTerms } from '@heddle/core'
import { readSessions } from '../sessions.js'
import type { Conversation, Question } from './conversation.js'

type Message = PlannedThread['messages'][number]

/** Paths, identifiers, hashes and long numbers. */
const NAME =
  /(?:[\w.-]+\/)+[\w.-]+|\b[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\w*|\b\w+_\w+\b|\b\d{4,}\b|\b[0-9a-f]{7,40}\b|\b[\w-]+\.(?:go|ts|js|md|json|py|sh|ya?ml|toml)\b/g
const NAME_CHARACTERS_LEAST = 6

/** Messages between what was shown and the question: nearer ones are still in the context. */
const NAMED_DISTANCE = 6
const VIEWED_DISTANCE = 10
/** A name in more messages is no evidence for one of them. */
const RESULTS_MAX = 3
const HOLDERS_MAX = 5
const SENTENCE_CHARACTERS = { least: 30, most: 300 }
const QUERY_TERMS_LEAST = 5
const LONG_TEXT_CHARACTERS = 3_000

/**
 * The recorded coding sessions with questions made from them: a sentence of a later message with a name that a tool
 * result had shown first (`named`), and what an agent said before it read a file again (`again`); the results that
 * showed it then are the evidence.
 */
export async function readCoding(dataDir: string): Promise<Conversation[]> {
  const sessions = await readSessions(dataDir)
  const conversations = sessions.map(({ thread, messages }) => ({
    kind: 'coding' as const,
    agent: `session ${thread}`,
    threads: [
      {
        agent: `session ${thread}`,
        thread: `session ${thread}`,
        messages: messages.map((message, index) => ({ ...message, sourceId: String(index) })),
      },
    ],
    questions: questionsOf(`session ${thread}`, messages),
  }))
  return conversations.filter(({ questions }) => questions.length > 0)
}

/** Names seen up to a message of a session. */
interface Seen {
  /** The messages with a name, in order. */
  readonly names: Map<string, { readonly index: number; readonly isResult: boolean }[]>
  /** The results that showed a file, by its path. */
  readonly views: Map<string, number[]>
  /** Names and views that a question was made of. */
  readonly used: Set<string>
}

function questionsOf(thread: string, messages: readonly Message[]): Question[] {
  const calls = new Map(messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => [call.id, call] as const)))
  const seen: Seen = { names: new Map(), views: new Map(), used: new Set() }
  const questions: Question[] = []
  let said: { text: string; index: number } | null = null
  for (const [index, message] of messages.entries()) {
    const isSpeech = (message.role === 'assistant' || message.role === 'user') && message.keptAside == null
    if (isSpeech) questions.push(...namedAgain(thread, { text: message.content, index }, seen))
    if (isSpeech && message.content.trim() !== '') said = { text: message.content, index }
    if (said !== null && index - said.index <= 4) questions.push(...viewedAgain(thread, message, { said, index }, seen))
    remember(message, { index, call: calls.get(message.toolCallId ?? '') }, seen)
  }
  return questions
}

function namedAgain(
  thread: string,
  { text, index }: { text: string; index: number },
  { names, used }: Seen,
): Question[] {
  if (text.length > LONG_TEXT_CHARACTERS) return []
  return text.split(/(?<=[.!?:])\s+|\n+/).flatMap((sentence) => {
    if (sentence.length < SENTENCE_CHARACTERS.least || sentence.length > SENTENCE_CHARACTERS.most) return []
    if (queryTerms(sentence).length < QUERY_TERMS_LEAST) return []
    for (const name of new Set(sentence.match(NAME))) {
      const holders = names.get(name) ?? []
      const results = holders.filter(({ isResult }) => isResult)
      const isFar = index - (holders.at(-1)?.index ?? index) >= NAMED_DISTANCE
      if (name.length < NAME_CHARACTERS_LEAST || used.has(name) || !isFar) continue
      if (results.length > RESULTS_MAX || holders.length > HOLDERS_MAX || holders[0]?.isResult !== true) continue
      used.add(name)
      const evidence = new Set(results.map((result) => String(result.index)))
      return [{ text: sentence.trim(), ability: 'named', evidence, before: { thread, index } }]
    }
    return []
  })
}

function viewedAgain(
  thread: string,
  { toolCalls = [] }: Message,
  { said, index }: { said: { text: string; index: number }; index: number },
  { views, used }: Seen,
): Question[] {
  return toolCalls.flatMap((call) => {
    const { kind, paths } = describeToolCall(call)
    if (kind !== 'file_view') return []
    return paths.flatMap((path) => {
      const before = views.get(path) ?? []
      const key = `${path} ${Math.floor(index / 40)}`
      if (index - (before.at(-1) ?? index) < VIEWED_DISTANCE || used.has(key)) return []
      used.add(key)
      const text = `${said.text.slice(-300).trim()} ${path.split('/').at(-1) ?? ''}`
      const evidence = new Set(before.map(String))
      return [{ text, ability: 'again', evidence, before: { thread, index: said.index } }]
    })
  })
}

type Call = Parameters<typeof describeToolCall>[0]

function remember(message: Message, { index, call }: { index: number; call: Call | undefined }, seen: Seen): void {
  const { role, content, toolCalls = [] } = message
  const isResult = role === 'tool_result'
  if (isResult && call !== undefined && message.isError !== true) {
    const { kind, paths } = describeToolCall(call)
    if (kind === 'file_view') for (const path of paths) seen.views.set(path, [...(seen.views.get(path) ?? []), index])
  }
  const text = [content, ...toolCalls.map(({ arguments: given }) => JSON.stringify(given))].join('\n')
  for (const name of new Set(text.match(NAME))) {
    const holders = seen.names.get(name)
    if (holders) holders.push({ index, isResult })
    else seen.names.set(name, [{ index, isResult }])
  }
}
