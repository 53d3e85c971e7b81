import type { Message } from '../conversation/message.js'
import type { ToolPairs } from '../conversation/turns.js'
import { contentWithLines } from '../parts/line.js'
import type { SummarySource } from '../speech/source.js'
import { withoutProtocol } from '../tools/protocol.js'

/** Characters of one message in a summarizer's input; longer ones are elided in the middle. */
export const SOURCE_CHARACTERS_MAX = 8_000
/** Characters of a call's arguments that are kept beside its text: the inserted text of an edit is informative. */
const CALL_CHARACTERS_MAX = 24_000
const TEXT_CHARACTERS_MAX = 16_000

export interface SourceOptions {
  /** Characters of one message at most. Default {@link SOURCE_CHARACTERS_MAX}. */
  readonly charactersMax?: number
  /** Applied to whole texts before anything is cut from them, such as `redactSecrets`. Default: no change. */
  readonly prepare?: (text: string) => string
}

/** Messages as a summarizer reads them: plain text with textual calls, so that it needs no tool schemas. */
export function summarySources(
  messages: readonly Message[],
  pairs: ToolPairs,
  reference: (message: Message) => string,
  { charactersMax = SOURCE_CHARACTERS_MAX, prepare = (text) => text }: SourceOptions = {},
): SummarySource[] {
  return messages.map((message) => {
    const calls = message.toolCalls.map((call) => {
      const given = prepare(typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments))
      return { call: { ...call, arguments: withoutProtocol(shortened(given)) }, words: elideMiddle(given, 400) }
    })
    const inWords = calls.map(({ call, words }) => `[called ${call.name} ${words}]`)
    const text = [prepare(contentWithLines(message, reference(message))), ...inWords]
      .filter((part) => part !== '')
      .join('\n')
    const tool = message.toolName ?? pairs.byResult.get(message.id)?.call.name ?? message.toolCalls[0]?.name ?? null
    return {
      reference: reference(message),
      role: message.role,
      text: withoutProtocol(elideMiddle(text, charactersMax)),
      toolName: tool === null ? null : withoutProtocol(tool),
      ...(calls.length > 0 && { calls: calls.map(({ call }) => call) }),
      isError: message.isError,
      pinned: message.pinned,
      orderedAtMs: message.orderedAtMs,
    }
  })
}

/** JSON with each long text elided, so that it stays valid. */
function shortened(given: string): string {
  if (given.length <= CALL_CHARACTERS_MAX) return given
  try {
    const shorten = (_: string, value: unknown) =>
      typeof value === 'string' ? elideMiddle(value, TEXT_CHARACTERS_MAX) : value
    return elideMiddle(JSON.stringify(JSON.parse(given), shorten), CALL_CHARACTERS_MAX)
  } catch {
    return elideMiddle(given, CALL_CHARACTERS_MAX)
  }
}

/** The beginning and the end of a text, with a note of how much is missing between them. */
export function elideMiddle(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const half = Math.floor(charactersMax / 2)
  const head = text.slice(0, half).toWellFormed()
  const tail = text.slice(text.length - half).toWellFormed()
  return `${head}\n[… ${text.length - 2 * half} characters left out …]\n${tail}`
}
