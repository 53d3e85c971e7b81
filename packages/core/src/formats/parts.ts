import type { NeutralMessage } from './neutral-message.js'

/**
 * The smallest unit of a message in a format, with the role of its turn: a block, an item, or a whole message if the
 * format has no pieces.
 */
export interface Piece {
  readonly role: string
  readonly block: Readonly<Record<string, unknown>>
}

/** Number of pieces of each neutral message, in order; zero for an empty message. */
export type PieceCounts = readonly number[]

/** Reads a message back, piece by piece. */
export class MessageReader {
  role: NeutralMessage['role'] | undefined
  readonly #texts: string[] = []
  readonly #thinking: NonNullable<NeutralMessage['thinking']>[number][] = []
  readonly #calls: NonNullable<NeutralMessage['toolCalls']>[number][] = []
  #result: Pick<NeutralMessage, 'toolCallId' | 'toolName' | 'isError'> = {}

  say(role: NeutralMessage['role'], text: string): this {
    this.role = role
    this.#texts.push(text)
    return this
  }

  think(block: NonNullable<NeutralMessage['thinking']>[number]): this {
    this.role = 'assistant'
    this.#thinking.push(block)
    return this
  }

  call(call: NonNullable<NeutralMessage['toolCalls']>[number]): this {
    this.role = 'assistant'
    this.#calls.push(call)
    return this
  }

  answer(text: string, result: Pick<NeutralMessage, 'toolCallId' | 'toolName' | 'isError'>): this {
    this.#result = result
    return this.say('tool_result', text)
  }

  /** Null if nothing was read. */
  message(): NeutralMessage | null {
    if (this.role === undefined) return null
    return {
      role: this.role,
      content: this.#texts.join(''),
      ...(this.#thinking.length > 0 && { thinking: this.#thinking }),
      ...(this.#calls.length > 0 && { toolCalls: this.#calls }),
      ...this.#result,
    }
  }
}
