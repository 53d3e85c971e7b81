import type { NewMessage } from '@heddle/client/interface'
import { limits } from '@heddle/contracts'

/** Messages after a content, so that a compaction covers it. */
const FOLLOWING = 6

/** A content as messages of a user: one, or several if it exceeds the limit of one message. */
export function asMessages(text: string): NewMessage[] {
  const given = partsOf(text).map((content): NewMessage => ({ role: 'user', content }))
  const following = Array.from({ length: FOLLOWING }, (_, index): NewMessage => {
    const role = index % 2 === 0 ? 'assistant' : 'user'
    return { role, content: `${role} goes on with step ${index} of the work at hand.` }
  })
  return [...given, ...following]
}

/** The same as a session for an import, with the content in tool results. */
export function asSession(text: string): readonly object[] {
  const answers = partsOf(text).flatMap((content, index) => [
    {
      role: 'assistant',
      content: 'I look at it.',
      tool_calls: [
        { id: `call-${index}`, type: 'function', function: { name: 'Bash', arguments: '{"command":"cat notes"}' } },
      ],
    },
    { role: 'tool', tool_call_id: `call-${index}`, content },
  ])
  return [{ role: 'user', content: 'Show me the notes.' }, ...answers, ...asMessages('')]
}

/** Cut between characters where that is possible. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + limits.messageCharactersMax)
    if (to < text.length && /[\ud800-\udbff]/.test(text.charAt(to - 1))) to--
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}
