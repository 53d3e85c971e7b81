import type { NewMessage } from '@heddle/client/interface'
import { textOf } from '@heddle/test-support/samples/texts'

export function conversationOf(count: number, first = 0): NewMessage[] {
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: textOf(first + index),
  }))
}
