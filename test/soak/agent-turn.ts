import type { NewMessage } from '@heddle/client/interface'
import { wholeNumber } from '@heddle/test-support/samples/chances'
import { textOf } from '@heddle/test-support/samples/texts'

const TEXTS = 1_000_000
const USER_CHARACTERS = 200
const REPLY_CHARACTERS = 400
const RESULT_CHARACTERS = [300, 4_000] as const

/** The messages of one agent step: a request, a call with its result, and a reply. About 1,000 tokens. */
export function agentTurn(chance: () => number, turn: number): NewMessage[] {
  const text = (characters: number) => textOf(wholeNumber(chance, 0, TEXTS), characters)
  const id = `call-${turn}`
  const path = `src/module-${wholeNumber(chance, 1, 40)}.ts`
  return [
    { role: 'user', content: text(USER_CHARACTERS) },
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'Read', arguments: { file_path: path } }] },
    { role: 'tool_result', toolCallId: id, content: text(wholeNumber(chance, ...RESULT_CHARACTERS)) },
    { role: 'assistant', content: text(REPLY_CHARACTERS) },
  ]
}
