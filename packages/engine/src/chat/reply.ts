import { type ErrorCode, HeddleError, PermanentError } from '@heddle/contracts'

/** What a bot shows: a title, a sentence, and named values, in the sizes that chats such as Discord take. */
export interface ChatReply {
  readonly ok: boolean
  /** 200 characters at most. */
  readonly title: string
  readonly text: string
  /** 25 at most, each with a value of 1,000 characters at most. */
  readonly fields: readonly ChatField[]
  /** Of the error, where the command could not be carried out. */
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

/** What a bot shows of an error that the person at the chat can do something about; others are thrown on. */
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
  CONFLICT: 'That is in conflict with something else',
  TIMEOUT: 'That took too long',
  SERVICE_UNAVAILABLE: 'That cannot be done at the moment',
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
