import { HeddleError } from '@heddle/contracts'
import { parseSession } from '@heddle/sessions'
import { entrySchemaOf, type FormName, readForm } from '../../packages/client/src/forms/index.js'
import type { Pass } from './measure.js'

/** The number of records grows with the text. */
const RECORD_CHARACTERS = 65

function cutInto(text: string): string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length; from += RECORD_CHARACTERS) {
    parts.push(text.slice(from, from + RECORD_CHARACTERS))
  }
  return parts
}

const lines = (records: readonly unknown[]) => records.map((record) => JSON.stringify(record)).join('\n')
const uuid = (number: number) => `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`

/** Recorded sessions, by their special form. */
const sessions: Readonly<Record<string, (text: string) => string>> = {
  'the text itself': (text) => text,
  'one message of Heddle': (content) => lines([{ role: 'user', content }]),
  'messages of Heddle': (text) => lines(cutInto(text).map((content) => ({ role: 'user', content }))),
  'messages of Heddle with one source': (text) =>
    lines(cutInto(text).map((content) => ({ role: 'user', content, sourceId: 'one' }))),
  'a message of Claude Code': (content) => lines([{ type: 'user', uuid: uuid(1), message: { role: 'user', content } }]),
  'one reply of Claude Code in many records': (text) =>
    lines(
      cutInto(text).map((part, index) => ({
        type: 'assistant',
        uuid: uuid(index),
        message: { id: 'msg_1', role: 'assistant', content: [{ type: 'text', text: part }] },
      })),
    ),
  'results of Claude Code': (text) =>
    lines(
      cutInto(text).flatMap((part, index) => [
        {
          type: 'assistant',
          uuid: uuid(2 * index),
          message: {
            id: `msg_${index}`,
            role: 'assistant',
            content: [{ type: 'tool_use', id: `toolu_${index}`, name: 'Bash', input: { command: part } }],
          },
        },
        {
          type: 'user',
          uuid: uuid(2 * index + 1),
          message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${index}`, content: part }] },
        },
      ]),
    ),
  'a document of OpenAI': (text) =>
    JSON.stringify({ messages: cutInto(text).map((content) => ({ role: 'user', content })) }),
  'texts of one message of OpenAI': (text) =>
    JSON.stringify({
      messages: [{ role: 'user', content: cutInto(text).map((part) => ({ type: 'text', text: part })) }],
    }),
  'a document of Anthropic': (text) =>
    JSON.stringify({
      system: 'You write code.',
      messages: [{ role: 'user', content: cutInto(text).map((part) => ({ type: 'text', text: part })) }],
    }),
  'a trajectory of SWE-agent': (text) =>
    JSON.stringify({ history: cutInto(text).map((content) => ({ role: 'user', content })) }),
}

const formEntries: Readonly<Record<FormName, (text: string) => unknown[]>> = {
  'openai-chat': (text) => cutInto(text).map((content) => ({ role: 'user', content })),
  'openai-responses': (text) => cutInto(text).map((content) => ({ role: 'user', content })),
  anthropic: (text) => [{ role: 'user', content: cutInto(text).map((part) => ({ type: 'text', text: part })) }],
  'ai-sdk': (text) => [{ role: 'user', content: cutInto(text).map((part) => ({ type: 'text', text: part })) }],
}

/** A refusal of the text ends a pass; its time until then counts. */
function unlessRefused(run: () => unknown): () => unknown {
  return () => {
    try {
      return run()
    } catch (error) {
      if (error instanceof HeddleError) return undefined
      throw error
    }
  }
}

/** Every reader of recorded or foreign data. */
export const sessionPasses: Readonly<Record<string, Pass>> = {
  ...Object.fromEntries(
    Object.entries(sessions).map(([name, session]): [string, Pass] => [
      `session: ${name}`,
      (text) => {
        const file = session(text)
        const run = unlessRefused(() => parseSession(file, { fileName: 'session.jsonl', format: 'auto' }))
        return Object.assign(run, { givenBytes: Buffer.byteLength(file) })
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(formEntries).map(([form, entriesOf]): [string, Pass] => [
      `form: ${form}`,
      (text) => {
        const entries = entriesOf(text)
        const schema = entrySchemaOf(form as FormName)
        const run = unlessRefused(() =>
          readForm(
            form as FormName,
            'thread',
            entries.map((entry) => schema.parse(entry)),
          ),
        )
        return Object.assign(run, { givenBytes: Buffer.byteLength(JSON.stringify(entries)) })
      },
    ]),
  ),
}
