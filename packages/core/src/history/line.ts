import type { Message } from '../conversation/message.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import type { Fate } from './message-outcomes.js'

/** One message to be sent, and the stored messages that it represents. */
export interface Line {
  readonly neutral: NeutralMessage
  readonly sources: readonly { message: Message; fate: Fate; asText: boolean }[]
}
