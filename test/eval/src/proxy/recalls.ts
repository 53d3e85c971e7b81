import { namesOf } from '../summary/names.js'
import type { Block, ReplaySession } from './session.js'

/** Tokens of a call that recalls a text. */
export const RECALL_CALL_TOKENS = 60

/**
 * The texts that an agent would have had to recall before a reply: a name in the reply that occurs in the history, and that the sent
 * request does not show anywhere, is in a text that was replaced. The judge of names is that of `summary.reused`. Only the newest
 * text with such a name counts.
 */
export function recalledTexts(reply: readonly Block[], history: readonly Block[], sent: string): string[] {
  const texts = new Set<string>()
  const missing = [...namesIn(reply)].filter((name) => !sent.includes(name))
  if (missing.length === 0) return []
  const blocks = history.flatMap(({ content }) => (Array.isArray(content) ? (content as Block[]) : [{ content }]))
  for (const name of missing) {
    const holder = blocks.findLast((block) => textOf(block).includes(name))
    if (holder !== undefined) texts.add(textOf(holder))
  }
  return [...texts]
}

function namesIn(reply: readonly Block[]): Set<string> {
  const texts = reply.flatMap((block) => {
    const { type, text, input, content, tool_calls: calls } = block
    if (type === 'thinking') return []
    return [text, content, input, calls].filter((value) => value !== undefined && value !== null)
  })
  return namesOf(texts.map((value) => (typeof value === 'string' ? value : stringsIn(value).join('\n'))).join('\n'))
}

function textOf(block: Block): string {
  return stringsIn(block).join('\n')
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** The request after a recall: the last one, the calls and the recalled texts. */
export function recallBody(session: ReplaySession, sent: string, texts: readonly string[], number: number): string {
  const body = JSON.parse(sent) as { messages: Block[] }
  const ids = texts.map((_, index) => `recall_${number}_${index}`)
  const input = { reference: 'a reference' }
  const added =
    session.protocol === 'anthropic'
      ? [
          { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'heddle_recall', input })) },
          {
            role: 'user',
            content: ids.map((id, index) => ({ type: 'tool_result', tool_use_id: id, content: texts[index] })),
          },
        ]
      : [
          {
            role: 'assistant',
            content: null,
            tool_calls: ids.map((id) => ({
              id,
              type: 'function',
              function: { name: 'heddle_recall', arguments: JSON.stringify(input) },
            })),
          },
          ...ids.map((id, index) => ({ role: 'tool', tool_call_id: id, content: texts[index] })),
        ]
  return JSON.stringify({ ...body, messages: [...body.messages, ...added] })
}
