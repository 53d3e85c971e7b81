import type { ContextResult, FormatName } from '@heddle/contracts'
import type { NeutralMessage } from './neutral-message.js'
import type { Piece, PieceCounts } from './parts.js'

/** Messages as they are sent, and the system prompt where the format has it beside them. */
export type Rendered = Pick<ContextResult, 'system' | 'messages'>

export interface RenderOptions {
  /**
   * Numbers of messages after which a provider's cache may keep what came before, in rising order; the last is where the
   * stable part of the context ends. Only formats with marks for the cache read them.
   */
  readonly stableEnds?: readonly number[]
}

/** A way in which providers take messages. */
export interface Format {
  readonly name: FormatName
  /** Whether reasoning is sent back to the provider; else it is left out, and costs nothing. */
  readonly carriesReasoning: boolean
  /** @param messages well formed; see {@link NeutralMessage} */
  render(messages: readonly NeutralMessage[], options?: RenderOptions): Rendered & { readonly counts: PieceCounts }
  /** What one message is counted as where it stands alone; null where it says nothing. */
  alone(message: NeutralMessage): object | null
  /** What is added to a list that is empty, or that does not open as the format demands. */
  readonly opening: object | null
  /** What in a list breaks the provider's rules, one sentence each; they name positions and never contents. */
  faults(rendered: Rendered): string[]
  /** The pieces of a list in order, those of the system prompt first. */
  pieces(rendered: Rendered): Piece[]
  /** The message that some pieces say; null for none. */
  read(pieces: readonly Piece[]): NeutralMessage | null
}
