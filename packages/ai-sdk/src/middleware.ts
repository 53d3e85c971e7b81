import { PromptThread } from './conversation.js'
import type { HeddleOptions } from './options.js'
import type { PromptMessage, SpecificationVersion } from './prompt.js'
import { promptPart, ReplyCollector } from './reply-collector.js'
import { usageOf } from './usage.js'

interface Parameters {
  // biome-ignore lint/suspicious/noExplicitAny: three versions of the interface have three types of it.
  readonly prompt: any
}

interface Model {
  readonly specificationVersion: string
  readonly modelId: string
}

/**
 * Fits `wrapLanguageModel` of the versions 5, 6 and 7, whose interfaces of providers are 2, 3 and 4. The AI SDK does not read
 * `specificationVersion`.
 */
export interface HeddleMiddleware {
  readonly specificationVersion: never
  transformParams<Given extends Parameters>(options: {
    readonly type: 'generate' | 'stream'
    readonly params: Given
    readonly model: Model
  }): Promise<Given>
  wrapGenerate<Result>(options: {
    readonly doGenerate: () => PromiseLike<Result>
    readonly params: Parameters
    readonly model: Model
  }): Promise<Result>
  wrapStream<Result>(options: {
    readonly doStream: () => PromiseLike<Result>
    readonly params: Parameters
    readonly model: Model
  }): Promise<Result>
}

/**
 * A middleware that stores prompts and replies in a thread, and gives the model a context of it within a budget. Instructions
 * at the beginning of the prompt stay as they are. While Heddle is away the model gets the prompt itself, and what was said
 * meanwhile is stored with the next one that has it.
 */
export function heddleMiddleware(options: HeddleOptions): HeddleMiddleware {
  const conversation = new PromptThread(options)
  const contexts = new WeakMap<object, string>()
  return {
    specificationVersion: 'v4' as never,
    async transformParams({ params, model }) {
      const prompt = params.prompt as readonly PromptMessage[]
      const replaced = await conversation.replace(prompt, model.specificationVersion as SpecificationVersion)
      if (replaced === null) return params
      const transformed = { ...params, prompt: replaced.prompt }
      contexts.set(transformed, replaced.contextId)
      return transformed
    },
    async wrapGenerate({ doGenerate, params, model }) {
      const result = await doGenerate()
      const { content, usage } = result as { content: Readonly<Record<string, unknown>>[]; usage: unknown }
      const reply = { content: content.map(promptPart), usage: usageOf(usage) }
      await conversation.store({ ...reply, model: model.modelId, contextId: contexts.get(params) })
      return result
    },
    async wrapStream({ doStream, params, model }) {
      const result = await doStream()
      const { stream } = result as { stream: ReadableStream<Readonly<Record<string, unknown>>> }
      const collector = new ReplyCollector()
      const watching = new TransformStream<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>>({
        transform(part, controller) {
          collector.add(part)
          controller.enqueue(part)
        },
        // A stream that broke off does not come here: what it said is not a reply.
        async flush() {
          if (!collector.isWhole) return
          const { content, usage } = collector
          const reply = { content, usage: usageOf(usage) }
          await conversation.store({ ...reply, model: model.modelId, contextId: contexts.get(params) })
        },
      })
      return { ...result, stream: stream.pipeThrough(watching) }
    },
  }
}
