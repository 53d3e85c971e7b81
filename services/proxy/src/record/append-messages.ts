import type { Ack, Client } from '@heddle/client/interface'
import { type MessageInput, PermanentError } from '@heddle/contracts'
import type { Conversation } from '../conversation/conversations.js'

export interface AppendedTo extends Pick<Conversation, 'agent' | 'thread'> {
  readonly messages: Client['messages']
  /** Milliseconds. */
  readonly deadlineMs: number
  readonly ack: Ack
}

/**
 * Appends messages of a conversation. If one of them is refused, such as one that is too large, the others are appended
 * one by one.
 *
 * @returns the refused messages
 * @throws whatever may succeed later
 */
export async function appendMessages(to: AppendedTo, given: readonly MessageInput[]): Promise<MessageInput[]> {
  if (given.length === 0) return []
  try {
    await append(to, given)
    return []
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    if (given.length === 1) return [...given]
  }
  const refused: MessageInput[] = []
  for (const message of given) refused.push(...(await appendMessages(to, [message])))
  return refused
}

async function append({ messages, agent, thread, deadlineMs, ack }: AppendedTo, given: readonly MessageInput[]) {
  await messages.append({
    agent,
    thread,
    messages: [...given],
    // Long conversations are the reason for a proxy: its agents see all of them.
    newAgentRollingWindow: null,
    // A reply has its model and usage, and the requests that repeat it do not.
    onUsedId: 'keep',
    ack,
    onBusy: 'fail',
    deadlineMs,
  })
}
