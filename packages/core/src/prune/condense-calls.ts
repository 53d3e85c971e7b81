import type { ToolCall } from '@heddle/contracts'
import { type CondensedCall, elidedInput, isElidable } from '../conversation/calls.js'
import type { Message } from '../conversation/message.js'
import { formatLocation } from '../conversation/references.js'
import { isAssistantSide } from '../conversation/turns.js'
import { wholeThinking } from '../formats/thinking.js'
import { countTokens } from '../tokens/tokens.js'
import type { ArchiveDraft } from './archive-draft.js'
import { condensedLine } from './condense.js'
import type { ToolEvent } from './events.js'
import { summarizeInOneLine } from './one-line.js'

/** A call whose input becomes a line, with the archive entry of the call. */
export interface CallDraft extends CondensedCall {
  readonly archive: ArchiveDraft
}

/**
 * Condenses the inputs of some calls of a message, each under a reference of its own: `msg-xxxxxxxx:tool-2`. Inputs that
 * would not become shorter are left out.
 *
 * @param events the calls with their results
 * @param reference of the message
 */
export function condenseCalls(message: Message, events: readonly ToolEvent[], reference: string): CallDraft[] {
  return events.flatMap(({ pair, use, outcome, paths }) => {
    if (pair === null || !isElidable(pair.call)) return []
    const number = pair.callIndex + 1
    const location = formatLocation({ kind: 'tool', number })
    const subject = use.path ?? use.pattern ?? use.command ?? ''
    const summary = summarizeInOneLine(`called ${pair.call.name} ${subject}`, null, null)
    const text = condensedLine({ use, outcome, summary, reference: `${reference}:${location}` })
    const content = JSON.stringify(pair.call)
    const archive: ArchiveDraft = {
      messageId: message.id,
      location,
      contentType: use.kind,
      summary,
      content,
      filePaths: paths,
      toolName: pair.call.name,
      tokens: countTokens(content),
    }
    const freedTokens = inputTokens(pair.call.arguments) - inputTokens(elidedInput(text))
    return freedTokens > 0 ? [{ number, text, freedTokens, archive }] : []
  })
}

function inputTokens(input: ToolCall['arguments']): number {
  return countTokens(typeof input === 'string' ? input : JSON.stringify(input))
}

/** The assistant's messages that are sent together with signed reasoning: their calls stay unchanged, as providers require. */
export function besideReasoning(messages: readonly Message[]): Set<string> {
  const found = new Set<string>()
  let run: Message[] = []
  const close = () => {
    if (run.some((message) => wholeThinking(message).length > 0)) for (const { id } of run) found.add(id)
    run = []
  }
  for (const message of messages) {
    if (isAssistantSide(message)) run.push(message)
    else close()
  }
  close()
  return found
}
