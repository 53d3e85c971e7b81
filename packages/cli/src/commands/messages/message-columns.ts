import type { MessageEntry } from '@heddle/client/interface'
import { describePart } from '@heddle/core'
import { oneLine } from '../../output/safe-text.js'
import type { ItemColumn } from '../../output/table.js'

const EXCERPT_CHARACTERS = 80

/** How lists of messages show each of them. */
export const messageColumns: readonly ItemColumn<MessageEntry>[] = [
  { title: 'seq', count: ({ seq }) => seq },
  { title: 'time', text: ({ orderedAt }) => orderedAt },
  { title: 'role', text: ({ role }) => role },
  { title: 'window', text: ({ inWindow }) => (inWindow ? 'in' : '-') },
  { title: 'reference', text: ({ reference }) => reference },
  { title: 'message', text: excerpt },
]

/** The same for messages of several threads. */
export const threadMessageColumns: readonly ItemColumn<MessageEntry>[] = [
  { title: 'thread', text: ({ thread }) => thread },
  ...messageColumns,
]

function excerpt({ content, parts = [], toolCalls = [] }: MessageEntry): string {
  const shown = parts.map((part) => `[${describePart(part)}]`)
  const calls = toolCalls.map(({ name }) => `[calls ${name}]`)
  return oneLine([content, ...shown, ...calls].filter((part) => part !== '').join(' '), EXCERPT_CHARACTERS)
}
