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
 * What in a context breaks the rules of the providers that take its format, one sentence a fault; empty when nothing does.
 * The sentences name positions and never contents, so that they can be logged.
 */
export function formatFaults(format: FormatName, rendered: Rendered): string[] {
  return formats[format].faults(rendered)
}

/** What a format cannot say of some messages; with it {@link fromRendered} gets back the very messages. */
export function besideRendered(format: FormatName, messages: readonly NeutralMessage[]): KeptBeside {
  return keptBeside(formats[format], messages)
}

/** The reverse of {@link render}. */
export function fromRendered(format: FormatName, rendered: Rendered, beside: KeptBeside): NeutralMessage[] {
  return restoreNeutral(formats[format], rendered, beside)
}

/**
 * What one message costs at most in a format, wherever it stands. Added up over a list, together with
 * {@link countFrame}, never less than the count of the rendered list: budgets can be filled before anything is rendered.
 */
export function countNeutralMessage(format: FormatName, message: NeutralMessage, count: Count): number {
  const alone = formats[format].alone(message)
  return alone === null ? 0 : countRenderedMessage(alone, count)
}

/** Trimming the last text, or joining texts of the system prompt, can move token borders, by a token at most. */
const JOIN_TOKENS = 1

/** What a format adds to a list once: the opening that some lists need, and what the provider adds. */
export function countFrame(format: FormatName, count: Count): number {
  const { opening } = formats[format]
  return opening === null ? countRendered([], count) : countRendered([opening], count) + JOIN_TOKENS
}
