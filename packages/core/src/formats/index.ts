import type { FormatName } from '@heddle/contracts'
import { aiSdk } from './ai-sdk.js'
import { anthropic } from './anthropic.js'
import { type Count, countRendered, countRenderedMessage } from './counting.js'
import type { Format, Rendered, RenderOptions } from './format.js'
import { neutral } from './neutral.js'
import type { NeutralMessage } from './neutral-message.js'
import { openAiChat } from './openai-chat.js'
import { openAiResponses } from './openai-responses.js'
import { type KeptBeside, keptBeside, restoreNeutral } from './round-trip.js'

export { countRendered, countSystem } from './counting.js'
export type { Rendered } from './format.js'
export { checkWellFormed } from './neutral.js'
export type { NeutralMessage } from './neutral-message.js'
export type { KeptBeside } from './round-trip.js'

const formats: Readonly<Record<FormatName, Format>> = {
  neutral,
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  anthropic,
  'ai-sdk': aiSdk,
}

/** Whether a format sends the reasoning of messages. */
export function carriesReasoning(format: FormatName): boolean {
  return formats[format].carriesReasoning
}

/** @param messages well formed; see {@link NeutralMessage} */
export function render(format: FormatName, messages: readonly NeutralMessage[], options?: RenderOptions): Rendered {
  const rendered = formats[format].render(messages, options)
  return { system: rendered.system, messages: rendered.messages }
}

/**
 * Violations of the rules of the providers that take this format, one sentence per fault; empty for a valid context.
 * The sentences name positions and never contents, so that they can be logged.
 */
export function formatFaults(format: FormatName, rendered: Rendered): string[] {
  return formats[format].faults(rendered)
}

/** Data about some messages that a format cannot express; with it {@link fromRendered} restores the exact messages. */
export function besideRendered(format: FormatName, messages: readonly NeutralMessage[]): KeptBeside {
  return keptBeside(formats[format], messages)
}

/** The reverse of {@link render}. */
export function fromRendered(format: FormatName, rendered: Rendered, beside: KeptBeside): NeutralMessage[] {
  return restoreNeutral(formats[format], rendered, beside)
}

/**
 * Maximum tokens of one message in a format, at any position. The sum over a list plus {@link countFrame} is never less
 * than the count of the rendered list, so budgets can be filled before rendering.
 */
export function countNeutralMessage(format: FormatName, message: NeutralMessage, count: Count): number {
  const alone = formats[format].alone(message)
  return alone === null ? 0 : countRenderedMessage(alone, count)
}

/** Trimming the last text, or joining texts of the system prompt, can move token boundaries, by at most one token. */
const JOIN_TOKENS = 1

/** Tokens that a format adds once per list: the opening message that some lists need, and the provider's overhead. */
export function countFrame(format: FormatName, count: Count): number {
  const { opening } = formats[format]
  return opening === null ? countRendered([], count) : countRendered([opening], count) + JOIN_TOKENS
}
