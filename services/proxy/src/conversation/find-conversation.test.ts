import { RequestReader } from '@heddle/core'
import { expect, test } from 'vitest'
import type { ConversationStates, FoundState } from './conversation-states.js'
import { Conversations } from './conversations.js'
import { findConversation } from './find-conversation.js'

const reader = new RequestReader()

function soughtOf(...said: readonly string[]) {
  const messages = said.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))
  const body = Buffer.from(JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages }))
  const request = reader.read('anthropic', body)
  if (request === null) throw new Error('not understood')
  return { project: 'p', agent: 'a', thread: null, session: null, request, body }
}

test('a request that comes while its conversation is still looked up belongs to it', async () => {
  let names = 0
  const conversations = new Conversations(() => `thread-${++names}`)
  const lookups: ((state: FoundState) => void)[] = []
  const states: Pick<ConversationStates, 'find'> = {
    find: () => new Promise((resolve) => void lookups.push(resolve)),
  }
  const finding = { conversations, states: states as ConversationStates }
  const first = findConversation(finding, soughtOf('Where is Oslo?'))
  const next = findConversation(finding, soughtOf('Where is Oslo?', 'In Norway.', 'And Bergen?'))
  for (const resolve of lookups.toReversed()) resolve({ found: null, late: null })
  expect((await next).thread).toBe((await first).thread)
  expect(names).toBe(1)
})

test('a request whose conversation is known by then does not overtake the one before it, which is still looked up', async () => {
  const conversations = new Conversations(() => 'thread')
  const lookups: ((state: FoundState) => void)[] = []
  const states: Pick<ConversationStates, 'find'> = {
    find: () => new Promise((resolve) => void lookups.push(resolve)),
  }
  const finding = { conversations, states: states as ConversationStates }
  const found: string[] = []
  const find = async (name: string, ...said: readonly string[]) => {
    await findConversation(finding, soughtOf(...said))
    found.push(name)
  }
  const first = find('first', 'Where is Oslo?')
  const second = find('second', 'Where is Oslo?', 'In Norway.', 'And Bergen?')
  lookups[0]?.({ found: null, late: null })
  await first
  const third = find('third', 'Where is Oslo?', 'In Norway.', 'And Bergen?', 'In Norway.', 'And Lund?')
  // Time in which it could be found alone.
  await new Promise(setImmediate)
  lookups[1]?.({ found: null, late: null })
  await Promise.all([second, third])
  expect(found).toEqual(['first', 'second', 'third'])
})
