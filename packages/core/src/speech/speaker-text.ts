import { slashCommandIn } from './injected.js'
import type { SummarySource } from './source.js'
import { userSpeechIn } from './user-speech.js'

/** A program sends what it expanded at once; a person who says something next needs longer. */
const EXPANDED_WITHIN_MS = 500

/**
 * The messages with what their users said, and nothing that a program put there: a user's message of which nobody said anything
 * has no text. Slash commands are told as what they are. A command stands as the words that were given with it, or as its name
 * where an agent was told by it what to do; the text of the command's file, which agents send as the user's next message, is an
 * instruction that nobody typed, and is read as a system's. A command that only changed the program itself says nothing.
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

/** Whether nothing of a message was said: then it is the output of the command, or the mark of one. */
function isInjected(text: string): boolean {
  return slashCommandIn(text) !== null || userSpeechIn(text) === ''
}
