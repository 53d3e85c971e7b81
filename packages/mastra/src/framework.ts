import type { PromptMessage } from '@heddle/ai-sdk/prompts'

/*
 * The part of Mastra's interface of processors that is used here, as `@mastra/core` 1.71.0 declares it in
 * `dist/processors/index.d.ts` and `dist/agent/message-list/message-list.d.ts`. That package wants a later Node than the
 * oldest one of Heddle, so it is no dependency of this repository: the types are structural, and `npm run verify:install`
 * compiles and runs them with the package itself.
 */

/** `RequestContext`. */
export interface RequestContext {
  get(key: string): unknown
}

/** `MessageList`: the conversation of a run, with the messages that Mastra's memory adds. */
export interface MessageList {
  readonly get: {
    readonly all: {
      readonly db: () => readonly { readonly threadId?: string | undefined }[]
      readonly aiV5: { readonly model: () => readonly PromptMessage[] }
    }
  }
}

/** The fields of every call of a processor that are used. */
export interface Run {
  readonly requestContext?: RequestContext | undefined
  readonly messageList?: MessageList | undefined
}

/** `ProcessLLMRequestArgs`: the prompt of one call of a model. A changed prompt stays out of the message list. */
export interface RequestArguments<Prompt> extends Run {
  readonly prompt: Prompt
  readonly model: { readonly specificationVersion: string; readonly modelId: string }
  /** Shared by the calls of one processor in a run, on both sides. */
  readonly state: Record<string, unknown>
}

/** `ProcessOutputStepArgs`: after each reply of a model, before its tools run. */
export interface StepArguments<List> extends Omit<Run, 'messageList'> {
  readonly messageList: List
  readonly usage: Usage
  readonly state: Record<string, unknown>
}

/** `ProcessOutputResultArgs`: at the end of a run. */
export type ResultArguments<List> = Pick<StepArguments<List>, 'messageList' | 'requestContext'>

/** `LanguageModelUsage`: tokens from a cache are a part of the input. */
export interface Usage {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly cachedInputTokens?: number | undefined
  readonly cacheCreationInputTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}
