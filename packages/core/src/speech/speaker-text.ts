import { slashCommandIn } from './injected.js'
import type { SummarySource } from './source.js'
import { userSpeechIn } from './user-speech.js'

/** A program sends an expansion at once; a person's next message takes longer. */
const EXPANDED_WITHIN_MS = 500

/**
 * The messages with only the text that their users wrote, without text that a program inserted; a fully inserted user
 * message becomes empty. A slash command becomes its arguments, or its name if it instructs the agent; the text of the
 * command's file, which agents send as the user's next message, is an instruction that nobody typed, and is read as a
 * system message. A command that only changed the program itself becomes empty.
 */
export function speakerText(messages: readonly SummarySource[]): SummarySource[] {
  const said: SummarySource[] = []
  for (let at = 0; at < messages.length; at++) {
    const source = messages[at]
    if (!source) break
    const command = source.role === 'user' && !source.pinned ? slashCommandIn(source.text) : null
    if (command === null) {
      said.push(source.role === 'user' && !source.pinned ? { ...source, text: userSpeechIn(source.text) } : source)
      continue
    }
    const next = messages[at + 1]
    const isExpanded =
      next?.role === 'user' &&
      !next.pinned &&
      next.orderedAtMs - source.orderedAtMs <= EXPANDED_WITHIN_MS &&
      !isInjected(next.text)
    const words = `${command.name} ${command.words}`.trim()
    said.push({ ...source, text: isExpanded || command.words !== '' ? `Run ${words}` : '' })
    if (!isExpanded) continue
    said.push({ ...next, role: 'system' })
    at++
  }
  return said
}

/** Whether a program inserted all of a message: it is the output of a command, or its marker. */
function isInjected(text: string): boolean {
  return slashCommandIn(text) !== null || userSpeechIn(text) === ''
}
