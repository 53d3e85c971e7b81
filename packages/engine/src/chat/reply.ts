import { type ErrorCode, HeddleError, PermanentError } from '@heddle/contracts'

/** A reply for a bot to show: a title, a sentence, and named values, within the size limits of chats such as Discord. */
export interface ChatReply {
  readonly ok: boolean
  /** 200 characters at most. */
  readonly title: string
  readonly text: string
  /** 25 at most, each with a value of 1,000 characters at most. */
  readonly fields: readonly ChatField[]
  /** The code of the error if the command failed. */
  readonly code: ErrorCode | null
}

export interface ChatField {
  readonly name: string
  readonly value: string
}

const TITLE_CHARACTERS_MAX = 200
const TEXT_CHARACTERS_MAX = 2_000
const VALUE_CHARACTERS_MAX = 1_000
export const CHAT_FIELDS_MAX = 25

export function chatReply(title: string, text: string, fields: readonly ChatField[] = []): ChatReply {
  return sized({ ok: true, title, text, fields, code: null })
}

/** The reply for an error that the user can correct; other errors are thrown. */
export function chatRefusal(error: unknown): ChatReply {
  if (!(error instanceof HeddleError) || error.code === 'INTERNAL') throw error
  const fields = error.hint === undefined ? [] : [{ name: 'What to do', value: error.hint }]
  return sized({
    ok: false,
    title: TITLES[error.code] ?? 'That did not work',
    text: error.message,
    fields,
    code: error.code,
  })
}

const TITLES: Partial<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'That is not valid',
  NOT_FOUND: 'That does not exist',
  CONFLICT: 'That conflicts with stored data',
  TIMEOUT: 'That took too long',
  SERVICE_UNAVAILABLE: 'That is not available at the moment',
}

export function noAgentHere(): ChatReply {
  return chatRefusal(
    new PermanentError('NOT_FOUND', 'No agent is active in this channel.', {
      hint: 'Run the command in the channel of an agent.',
    }),
  )
}

function sized({ title, text, fields, ...rest }: ChatReply): ChatReply {
  return {
    ...rest,
    title: cut(title, TITLE_CHARACTERS_MAX),
    text: cut(text, TEXT_CHARACTERS_MAX),
    fields: fields
      .slice(0, CHAT_FIELDS_MAX)
      .map(({ name, value }) => ({ name: cut(name, TITLE_CHARACTERS_MAX), value: cut(value, VALUE_CHARACTERS_MAX) })),
  }
}

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).toWellFormed()}…`
}
