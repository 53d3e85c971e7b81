import { z } from 'zod'
import { named } from '../http/common.js'
import { foreignNameSchema, nameSchema, timeSchema } from '../primitives/names.js'
import { PATH_CHARACTERS_MAX, SESSION_CHARACTERS_MAX } from './options.js'

const commonFields = {
  /** The name of the thread. */
  session: nameSchema.max(SESSION_CHARACTERS_MAX),
  /** The working directory of the session. */
  directory: z.string().max(PATH_CHARACTERS_MAX).optional(),
  /** When it happened, of an event that is sent afterwards. */
  sentAt: timeSchema.optional(),
}

const eventOf = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.looseObject({ type: z.literal(type), ...commonFields, ...fields })

export const openCodeEventSchema = named(
  'OpenCodeEvent',
  z.discriminatedUnion('type', [
    eventOf('said', {
      role: z.enum(['user', 'assistant']),
      /** Of the message, or of a part of a reply. */
      id: foreignNameSchema(400),
      text: z.string(),
    }),
    eventOf('called', {
      /** Of the call. */
      id: foreignNameSchema(480),
      tool: foreignNameSchema(512),
      input: z.unknown(),
      /** The text of the output, or of the error. */
      output: z.string(),
      isError: z.boolean().optional(),
    }),
    /** A compaction begins: the answer has what the session needs. */
    eventOf('compacting', {}),
    /** Asks again what a session needs after its last compaction. */
    eventOf('resumed', {}),
    eventOf('ended', { reason: z.string() }),
  ]),
)
/** An event of a session of OpenCode, as its plugin sends it (docs/opencode.md). */
export type OpenCodeEvent = z.infer<typeof openCodeEventSchema>

export const openCodeHookOutputSchema = named(
  'OpenCodeHookOutput',
  z.object({
    /** A stub in place of the output. */
    output: z.string().optional(),
    /** The reference of the recorded output of a call. */
    reference: z.string().optional(),
    /** The text that the session needs after a compaction: at most 10,000 characters. */
    text: z.string().optional(),
  }),
)
/** Changes that the plugin makes; empty if nothing is to change. */
export type OpenCodeHookOutput = z.infer<typeof openCodeHookOutputSchema>
