/** A reply of a scripted model: a text, or the call of a tool. */
export type ScriptedReply =
  | { readonly text: string }
  | { readonly call: { readonly name: string; readonly input: object } }

type Prompt = readonly { readonly role: string; readonly content: unknown }[]

/** A model of the AI SDK that replies by a script, and records its prompts. */
export interface ScriptedModel {
  readonly prompts: Prompt[]
  // biome-ignore lint/suspicious/noExplicitAny: the same object is a model of three versions of the interface.
  readonly model: any
}

/** @param replyTo gives the reply to a prompt, and so is the same for a repeated one */
export function scriptedModel(
  version: 'v2' | 'v3' | 'v4',
  replyTo: (prompt: Prompt, count: number) => ScriptedReply,
): ScriptedModel {
  const prompts: Prompt[] = []
  const usage =
    version === 'v2'
      ? { inputTokens: 100, outputTokens: 10, totalTokens: 110, cachedInputTokens: 40 }
      : {
          inputTokens: { total: 100, noCache: 60, cacheRead: 40, cacheWrite: 0 },
          outputTokens: { total: 10, text: 10, reasoning: 0 },
        }
  const finish = (reason: string) => (version === 'v2' ? reason : { unified: reason, raw: reason })
  const next = (prompt: Prompt) => {
    const reply = replyTo(prompt, prompts.push(prompt))
    if ('text' in reply) return { content: [{ type: 'text', text: reply.text }], finishReason: finish('stop') }
    const { name, input } = reply.call
    const call = {
      type: 'tool-call',
      toolCallId: `call_${name}_${prompts.length}_${crypto.randomUUID()}`,
      toolName: name,
    }
    return { content: [{ ...call, input: JSON.stringify(input) }], finishReason: finish('tool-calls') }
  }
  const model = {
    specificationVersion: version,
    provider: 'scripted',
    modelId: 'scripted-1',
    supportedUrls: {},
    doGenerate: async ({ prompt }: { prompt: Prompt }) => ({ ...next(prompt), usage, warnings: [] }),
    doStream: async ({ prompt }: { prompt: Prompt }) => {
      const { content, finishReason } = next(prompt)
      const parts: object[] = [{ type: 'stream-start', warnings: [] }]
      for (const part of content) {
        if (part.type !== 'text' || !('text' in part)) parts.push(part)
        else {
          parts.push({ type: 'text-start', id: '1' })
          for (const piece of part.text.match(/.{1,7}/gs) ?? [])
            parts.push({ type: 'text-delta', id: '1', delta: piece })
          parts.push({ type: 'text-end', id: '1' })
        }
      }
      parts.push({ type: 'finish', finishReason, usage })
      return { stream: ReadableStream.from(parts) }
    },
  }
  return { prompts, model }
}

/** Calls without a result, and results without a call, in a prompt of a model. */
export function orphansIn(prompt: Prompt): string[] {
  const calls = new Set<string>()
  const orphans: string[] = []
  for (const { content } of prompt) {
    if (!Array.isArray(content)) continue
    for (const part of content as { type: string; toolCallId?: string }[]) {
      const id = part.toolCallId ?? ''
      if (part.type === 'tool-call') calls.add(id)
      if (part.type === 'tool-result' && !calls.delete(id)) orphans.push(id)
    }
  }
  return [...orphans, ...calls]
}
