import type { FormatName, JsonObject } from '@heddle/contracts'
import type { z } from 'zod'
import { idOfSource } from '../calls/idempotency.js'
import { aiSdkEntrySchema, readAiSdk } from './ai-sdk.js'
import { anthropicEntrySchema, readAnthropicEntries } from './anthropic.js'
import type { MessageDraft } from './message-draft.js'
import { openAiChatEntrySchema, readOpenAiChat } from './openai-chat.js'
import { openAiResponsesEntrySchema, readOpenAiResponses } from './openai-responses.js'
import type { FormEntry, FormMessage } from './reading.js'

/** Providers' formats, in which replies are received and requests sent. */
export type FormName = Exclude<FormatName, 'neutral'>

interface Form {
  /** Validates an entry of an append, and returns a copy of the whole entry. */
  readonly schema: z.ZodType<JsonObject>
  /** @param entries those of one append, in order */
  read(entries: readonly FormEntry[]): FormMessage[]
}

const forms: Readonly<Record<FormName, Form>> = {
  'openai-chat': { schema: openAiChatEntrySchema, read: readOpenAiChat },
  'openai-responses': { schema: openAiResponsesEntrySchema, read: readOpenAiResponses },
  anthropic: { schema: anthropicEntrySchema, read: readAnthropicEntries },
  'ai-sdk': { schema: aiSdkEntrySchema, read: readAiSdk },
}

export const formNames = Object.keys(forms) as FormName[]

export const entrySchemaOf = (form: FormName): z.ZodType<JsonObject> => forms[form].schema

/** A message in Heddle's own format; with the id derived from its source's id, if it has one. */
export interface ReadMessage {
  readonly entry: number
  readonly message: MessageDraft & { readonly id?: string }
}

/**
 * The messages in entries of a provider's format. A result gets the name of the earlier call that it answers.
 *
 * @param entries as returned by {@link entrySchemaOf}
 */
export function readForm(form: FormName, thread: string, entries: readonly FormEntry['value'][]): ReadMessage[] {
  const toolNames = new Map<string, string>()
  const placed = entries.map((value, index) => ({ place: `messages.${index}`, value }))
  return forms[form].read(placed).map(({ entry, sourceId, input }) => {
    for (const call of input.toolCalls ?? []) toolNames.set(call.id, call.name)
    const toolName = input.toolName ?? (input.toolCallId === undefined ? undefined : toolNames.get(input.toolCallId))
    const message = { ...input, ...(toolName !== undefined && { toolName }) }
    if (sourceId === undefined) return { entry, message }
    return { entry, message: { ...message, sourceId, id: idOfSource(`${sourceId} ${saidIn(input)}`, thread) } }
  })
}

/** A part of the id, since some servers reuse their ids, or give every reply the same one. */
function saidIn({ role, content, toolCalls = [], toolCallId = '' }: MessageDraft): string {
  return JSON.stringify([role, content, toolCalls, toolCallId])
}

export { readAssistant, readThinking, readUser } from './anthropic-blocks.js'
export { readAnthropicMessage, systemDraft } from './anthropic-message.js'
export { blocksField, blocksOf, flattenContent } from './content.js'
export { isJsonObject, type Json, type JsonObject, metadataField, otherFields, textField } from './json.js'
export { countSkipped, type DraftMessage, type MessageDraft, type SourceRecord } from './message-draft.js'
export { readOpenAiMessage, readToolCalls } from './openai-message.js'
export { readItems as readOpenAiItems } from './openai-responses-items.js'
export { openAiUsage } from './usage.js'
