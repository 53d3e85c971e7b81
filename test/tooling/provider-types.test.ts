import type Anthropic from '@anthropic-ai/sdk'
import type { Client, WithAppended } from '@heddle/client/interface'
import type { ContextResult } from '@heddle/contracts'
import type { ContextIn } from '@heddle/engine'
import type { ModelMessage } from 'ai'
import type OpenAI from 'openai'
import { expectTypeOf, test } from 'vitest'

/**
 * Passes the answer of a build to the providers' own packages without a cast. The compiler runs these tests: a
 * format that their types do not accept fails `npm run types`, and nothing here runs against a provider.
 */
type Build = Client['contexts']['build']

test('a context in openai-chat has the type that chat completions of openai accept', () => {
  const request = ({ messages }: ContextIn<'openai-chat'>): OpenAI.ChatCompletionCreateParamsNonStreaming => {
    return { model: 'gpt-4o', messages }
  }
  expectTypeOf(request).toBeFunction()
})

test('a context in openai-responses has the type that responses of openai accept as input', () => {
  const request = ({ messages }: ContextIn<'openai-responses'>): OpenAI.Responses.ResponseCreateParamsNonStreaming => {
    return { model: 'gpt-4o', input: messages }
  }
  expectTypeOf(request).toBeFunction()
})

test('a context in anthropic has the type that messages of @anthropic-ai/sdk accept', () => {
  const request = ({ system, messages }: ContextIn<'anthropic'>): Anthropic.MessageCreateParamsNonStreaming => {
    return { model: 'claude-sonnet-4-5', max_tokens: 1_024, messages, ...(system !== null && { system }) }
  }
  expectTypeOf(request).toBeFunction()
})

test('a context in ai-sdk has the type that the functions of the package ai accept', () => {
  const request = ({ system, messages }: ContextIn<'ai-sdk'>): { system?: string; messages: ModelMessage[] } => {
    return { messages, ...(system !== null && { system }) }
  }
  expectTypeOf(request).toBeFunction()
})

test('the type of a built context follows the format of its request, and is a union for an unknown format', () => {
  const chat = (build: Build) => build({ thread: 'run', format: 'openai-chat' })
  const blocks = (build: Build) => build({ thread: 'run', format: 'anthropic', budget: 2_000 })
  const plain = (build: Build) => build({ thread: 'run' })
  expectTypeOf(chat).returns.resolves.toEqualTypeOf<ContextIn<'openai-chat'> & WithAppended>()
  expectTypeOf(blocks).returns.resolves.toEqualTypeOf<ContextIn<'anthropic'> & WithAppended>()
  expectTypeOf(plain).returns.resolves.toEqualTypeOf<ContextResult & WithAppended>()
  expectTypeOf<ContextIn<'openai-chat'>>().toExtend<ContextResult>()
  expectTypeOf<ContextIn<'anthropic'>>().toExtend<ContextResult>()
  // @ts-expect-error What OpenAI's chat takes is not what Anthropic's messages take.
  expectTypeOf<ContextIn<'openai-chat'>>().toExtend<ContextIn<'anthropic'>>()
})
