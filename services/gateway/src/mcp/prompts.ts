import type { RemoteClient } from '@heddle/client/http'
import { describeReceived, didYouMean, nameSchema, PermanentError, parse, validationError } from '@heddle/contracts'
import { z } from 'zod'
import type { McpSession } from './session.js'

interface Prompt {
  readonly title: string
  readonly description: string
  /** The words before the record of a thread. */
  readonly words: (thread: string) => string
}

const HANDOFF = [
  'Write a handoff for an agent that has seen nothing of it, from the record below and from nothing else.',
  'Use these sections, and leave out empty ones: goal; constraints, word for word; decisions and their reasons; state of files and',
  'commands; open problems; next steps. Keep each reference such as msg-1a2b3c4d beside what it stands for, and say which of your',
  'statements the record does not support.',
].join(' ')

const prompts: Readonly<Record<string, Prompt>> = {
  resume: {
    title: 'Go on in a thread',
    description: 'Gives the model what was asked, done and left open in a thread, with references to recall',
    words: (thread) =>
      `Go on with the work of the thread ${JSON.stringify(thread)}. Its record follows; recall what you need in full before you rely on it.`,
  },
  handoff: {
    title: 'Hand a thread over',
    description: 'Has the model write a handoff of a thread for another agent',
    words: (thread) => `Another agent takes over the work of the thread ${JSON.stringify(thread)}. ${HANDOFF}`,
  },
}

const threadArgument = { name: 'thread', description: 'The name of the thread', required: false }

/** The prompts as `prompts/list` shows them. */
export const listedPrompts = Object.entries(prompts).map(([name, { title, description }]) => ({
  name,
  title,
  description,
  arguments: [threadArgument],
}))

const argumentsSchema = z.strictObject({ thread: nameSchema.optional() })

export interface AskedPrompt {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/**
 * A prompt with the record of its thread; without an argument, of the thread that the session named last.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown prompt or thread, `VALIDATION_ERROR` if no thread is named
 */
export async function getPrompt(
  asked: AskedPrompt,
  { client, session }: { readonly client: RemoteClient; readonly session: McpSession },
) {
  const prompt = Object.hasOwn(prompts, asked.name) ? prompts[asked.name] : undefined
  if (prompt === undefined) throw noSuchPrompt(asked.name)
  const thread = parse(argumentsSchema, asked.arguments, 'arguments').thread ?? session.thread
  if (thread === undefined) throw validationError('thread', 'is needed: no call has named a thread yet', 'nothing')
  const { text } = await client.threads.resumeText(thread)
  const record = text === '' ? 'Nothing was said in this thread yet.' : text
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: `${prompt.words(thread)}\n\n${record}` } }],
  }
}

/** Threads named in an argument of a prompt are completed; nothing else is. */
const COMPLETED_MAX = 100

/** Values for an argument of a prompt that is being typed. */
export async function complete(
  { name, value }: { readonly name: string; readonly value: string },
  client: RemoteClient,
): Promise<{ values: string[]; hasMore: boolean }> {
  if (name !== threadArgument.name) return { values: [], hasMore: false }
  const search = value === '' ? undefined : value
  const { items, nextCursor } = await client.threads.list({ search, limit: COMPLETED_MAX })
  return { values: items.map((thread) => thread.name), hasMore: nextCursor !== null }
}

function noSuchPrompt(name: string): PermanentError {
  const names = Object.keys(prompts)
  return new PermanentError('NOT_FOUND', `there is no such prompt${didYouMean(name, names)}`, {
    field: 'name',
    received: describeReceived(name),
    hint: `The prompts are ${names.join(' and ')}.`,
  })
}
