import type { Message } from '../message.js'
import type { SummarySource } from '../summary/source.js'
import type { ToolPairs } from '../turns.js'
import { withoutProtocol } from './check-summary.js'

/** Characters of one message that a summarizer is shown; what is longer is elided in the middle. */
export const SOURCE_CHARACTERS_MAX = 8_000

/** Messages as a summarizer reads them: plain text, calls in words, so that it needs no tool schemas. */
export function summarySources(
  messages: readonly Message[],
  pairs: ToolPairs,
  reference: (message: Message) => string,
): SummarySource[] {
  return messages.map((message) => {
    const calls = message.toolCalls.map((call) => {
      const given = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
      return `[called ${call.name} ${elideMiddle(given, 400)}]`
    })
    const text = [message.content, ...calls].filter((part) => part !== '').join('\n')
    const tool = message.toolName ?? pairs.byResult.get(message.id)?.call.name ?? message.toolCalls[0]?.name ?? null
    return {
      reference: reference(message),
      role: message.role,
      text: withoutProtocol(elideMiddle(text, SOURCE_CHARACTERS_MAX)),
      toolName: tool === null ? null : withoutProtocol(tool),
      isError: message.isError,
      pinned: message.pinned,
      orderedAtMs: message.orderedAtMs,
    }
  })
}

/** The beginning and the end of a text, with a mark of how much is missing between them. */
export function elideMiddle(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const half = Math.floor(charactersMax / 2)
  const head = text.slice(0, half).toWellFormed()
  const tail = text.slice(text.length - half).toWellFormed()
  return `${head}\n[… ${text.length - 2 * half} characters left out …]\n${tail}`
}
