import type { ContextResult, FormatName } from '@heddle/contracts'
import type { NeutralMessage } from './neutral-message.js'
import type { Piece, PieceCounts } from './parts.js'

/** Messages as they are sent, and the system prompt if the format sends it separately. */
export type Rendered = Pick<ContextResult, 'system' | 'messages'>

export interface RenderOptions {
  /**
   * Message counts after which a provider's cache should store the prefix, ascending; the last is the end of the
   * context's stable part. Only formats with cache marks use them.
   */
  readonly stableEnds?: readonly number[]
}

/** A provider's message format. */
export interface Format {
  readonly name: FormatName
  /** Whether reasoning is sent back to the provider; if not, it is left out and costs nothing. */
  readonly carriesReasoning: boolean
  /** @param messages well formed; see {@link NeutralMessage} */
  render(messages: readonly NeutralMessage[], options?: RenderOptions): Rendered & { readonly counts: PieceCounts }
  /** One message on its own, for counting; null if it is empty. */
  alone(message: NeutralMessage): object | null
  /** The message added to a list that is empty, or that does not start as the format requires. */
  readonly opening: object | null
  /** Violations of the provider's rules, one sentence each; they name positions and never contents. */
  faults(rendered: Rendered): string[]
  /** The pieces of a list in order, those of the system prompt first. */
  pieces(rendered: Rendered): Piece[]
  /** The message made from some pieces, or null. */
  read(pieces: readonly Piece[]): NeutralMessage | null
}
