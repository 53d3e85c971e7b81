import type { Message } from '../conversation/message.js'

export type TurnMessage = Pick<Message, 'seq' | 'role' | 'content' | 'toolCalls' | 'contextId'>

/** A reply and the messages after it, up to the next message of the user or the next reply that names a context. */
export interface ReplyTurn {
  readonly contextId: string
  /** The sequence number of the reply. */
  readonly seq: number
  readonly messages: readonly TurnMessage[]
}

/**
 * Groups messages by the contexts that they answer.
 *
 * @param open the turn that was open before the first of them
 */
export function replyTurns(
  messages: readonly TurnMessage[],
  open: { readonly contextId: string; readonly seq: number } | null,
): ReplyTurn[] {
  const turns: { contextId: string; seq: number; messages: TurnMessage[] }[] = []
  let current = open === null ? null : { ...open, messages: [] as TurnMessage[] }
  if (current !== null) turns.push(current)
  for (const message of messages) {
    if (message.contextId !== null) {
      current = { contextId: message.contextId, seq: message.seq, messages: [] }
      turns.push(current)
    } else if (message.role === 'user') current = null
    current?.messages.push(message)
  }
  return turns.filter((turn) => turn.messages.length > 0)
}
