import type { PromptMessage, SpecificationVersion } from '@heddle/ai-sdk/prompts'
import type { MessageList, RequestArguments, ResultArguments, StepArguments } from './framework.js'
import type { HeddleOptions } from './options.js'
import { threadsOf } from './threads.js'
import { usageOf } from './usage.js'

/** Fits `InputProcessor` and `OutputProcessor` of Mastra. */
export interface HeddleProcessor {
  readonly id: string
  readonly name: string
  processLLMRequest<Prompt>(request: RequestArguments<Prompt>): Promise<{ prompt: Prompt } | undefined>
  processOutputStep<List extends MessageList>(step: StepArguments<List>): Promise<List>
  processOutputResult<List extends MessageList>(result: ResultArguments<List>): Promise<List>
}

/**
 * The options of an agent that put Heddle into it: its processor stores the messages of a run in a thread, and gives the model
 * a context of it within a budget. The message list of the run, and so Mastra's own memory, stays as it is.
 */
export function heddleProcessors(options: HeddleOptions) {
  const threadOf = threadsOf(options)
  const processor: HeddleProcessor = {
    id: 'heddle',
    name: 'Heddle',
    async processLLMRequest<Prompt>({ prompt, model, state, ...run }: RequestArguments<Prompt>) {
      const version = model.specificationVersion as SpecificationVersion
      const replaced = await threadOf(run).replace(prompt as readonly PromptMessage[], version)
      state['model'] = model.modelId
      state['contextId'] = replaced?.contextId
      return replaced === null ? undefined : { prompt: replaced.prompt as Prompt }
    },
    async processOutputStep({ messageList, usage, state, requestContext }) {
      const facts = { model: textIn(state['model']), contextId: textIn(state['contextId']), usage: usageOf(usage) }
      await threadOf({ messageList, requestContext }).storeAll(messageList.get.all.aiV5.model(), facts)
      return messageList
    },
    // A run may end with the results of tools, which no further request has.
    async processOutputResult({ messageList, requestContext }) {
      await threadOf({ messageList, requestContext }).storeAll(messageList.get.all.aiV5.model())
      return messageList
    },
  }
  return { inputProcessors: [processor] as [HeddleProcessor], outputProcessors: [processor] as [HeddleProcessor] }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
