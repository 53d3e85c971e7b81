import type Anthropic from '@anthropic-ai/sdk'
import type { RemoteAppendOptions, RemoteClient } from '@heddle/client/http'
import type { AppendOptions, Client } from '@heddle/client/interface'
import type { ContextIn } from '@heddle/engine'
import type { GenerateTextResult, ModelMessage, StepResult, ToolSet } from 'ai'
import type OpenAI from 'openai'
import type { ParsedChatCompletion } from 'openai/resources/chat/completions'
import { expectTypeOf, test } from 'vitest'

/**
 * Passes values of the providers' own packages to an append without a cast. The compiler runs these tests, under
 * every strict flag of `tsconfig.base.json`: a type that is not accepted fails `npm run types`.
 */
type Entry<Format> = Extract<RemoteAppendOptions, { format: Format }>['messages'][number]
type Append = Client['messages']['append']

test('messages and chat completions of the package openai are entries of openai-chat', () => {
  expectTypeOf<OpenAI.Chat.Completions.ChatCompletionMessageParam>().toExtend<Entry<'openai-chat'>>()
  expectTypeOf<OpenAI.Chat.Completions.ChatCompletionMessage>().toExtend<Entry<'openai-chat'>>()
  expectTypeOf<OpenAI.Chat.Completions.ChatCompletion>().toExtend<Entry<'openai-chat'>>()
  expectTypeOf<ParsedChatCompletion<{ answer: string }>>().toExtend<Entry<'openai-chat'>>()
})

test('items and responses of the package openai are entries of openai-responses', () => {
  expectTypeOf<OpenAI.Responses.ResponseInputItem>().toExtend<Entry<'openai-responses'>>()
  expectTypeOf<OpenAI.Responses.ResponseOutputItem>().toExtend<Entry<'openai-responses'>>()
  expectTypeOf<OpenAI.Responses.Response>().toExtend<Entry<'openai-responses'>>()
})

test('messages and answers of the package @anthropic-ai/sdk are entries of anthropic', () => {
  expectTypeOf<Anthropic.MessageParam>().toExtend<Entry<'anthropic'>>()
  expectTypeOf<Anthropic.Message>().toExtend<Entry<'anthropic'>>()
})

test('messages, results and steps of the package ai are entries of ai-sdk', () => {
  expectTypeOf<ModelMessage>().toExtend<Entry<'ai-sdk'>>()
  expectTypeOf<GenerateTextResult<ToolSet, never>>().toExtend<Entry<'ai-sdk'>>()
  expectTypeOf<GenerateTextResult<ToolSet, never>['response']>().toExtend<Entry<'ai-sdk'>>()
  expectTypeOf<StepResult<ToolSet>>().toExtend<Entry<'ai-sdk'>>()
})

test('the messages of a built context can be appended in the same format', () => {
  expectTypeOf<ContextIn<'openai-chat'>['messages'][number]>().toExtend<Entry<'openai-chat'>>()
  expectTypeOf<ContextIn<'openai-responses'>['messages'][number]>().toExtend<Entry<'openai-responses'>>()
  expectTypeOf<ContextIn<'anthropic'>['messages'][number]>().toExtend<Entry<'anthropic'>>()
  expectTypeOf<ContextIn<'ai-sdk'>['messages'][number]>().toExtend<Entry<'ai-sdk'>>()
})

test('an append accepts messages only in the format that it names', () => {
  const names = { agent: 'coder', thread: 'run' }
  const call = { id: 'call-1', type: 'function', function: { name: 'look', arguments: '{}' } } as const
  const chat = (append: Append, completion: OpenAI.ChatCompletion) =>
    append({
      ...names,
      format: 'openai-chat',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call-1', content: 'seen' },
        completion,
      ],
    })
  const blocks = (append: RemoteClient['messages']['append'], reply: Anthropic.Message) =>
    append({
      ...names,
      format: 'anthropic',
      contextId: 'a-context',
      messages: [
        reply,
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu-1', content: 'seen', is_error: true }] },
      ],
    })
  const wrong = (append: Append, reply: Anthropic.Message) =>
    // @ts-expect-error An answer of Anthropic is none of OpenAI.
    append({ ...names, format: 'openai-chat', messages: [reply] })
  const plain = (append: Append) =>
    append({ ...names, messages: [{ role: 'tool_result', content: '', toolCallId: 'c' }] })
  expectTypeOf(chat).toBeFunction()
  expectTypeOf(blocks).toBeFunction()
  expectTypeOf(wrong).toBeFunction()
  expectTypeOf(plain).toBeFunction()
  expectTypeOf<RemoteAppendOptions>().toExtend<AppendOptions>()
})
