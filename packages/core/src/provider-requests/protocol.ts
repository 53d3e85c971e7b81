/** Providers' protocols for one reply: Anthropic's messages, OpenAI's chat completions, OpenAI's responses. */
export const protocols = ['anthropic', 'openai-chat', 'openai-responses'] as const
export type Protocol = (typeof protocols)[number]

interface Fields {
  /** The list of the conversation. */
  readonly list: string
  /** Fields that the provider renders before the list, in its order. */
  readonly head: readonly string[]
  /** Fields with which the provider keeps or shortens the conversation by itself. */
  readonly own: readonly string[]
}

/** The fields of a request's body that its conversation is read from. */
export const fieldsOf: Readonly<Record<Protocol, Fields>> = {
  anthropic: {
    list: 'messages',
    head: ['tools', 'system', 'tool_choice', 'thinking'],
    own: ['context_management', 'container'],
  },
  'openai-chat': { list: 'messages', head: ['tools', 'functions', 'tool_choice', 'response_format'], own: [] },
  'openai-responses': {
    list: 'input',
    head: ['tools', 'instructions', 'text', 'reasoning'],
    own: ['previous_response_id', 'conversation', 'context_management', 'prompt', 'truncation'],
  },
}

/**
 * Models of Anthropic whose reasoning is accepted again whatever precedes it. Later ones check that nothing before it has
 * changed since, and refuse the request otherwise, so that nothing may be replaced in their conversations: not even a result
 * before it is sent for the first time, because a proxy that has lost its state would send the result itself
 * (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking, read 2026-11-26).
 */
const UNBOUND =
  /^claude-(?:[123]|instant|(?:opus|sonnet|haiku)-4|(?:opus|sonnet|fable|mythos)-5(?!-[1-9](?!\d))|mythos-preview)/

/** Whether a model refuses its own earlier reasoning after a change of anything before it. */
export function bindsReasoning(protocol: Protocol, model: string): boolean {
  const name = model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:[a-z-]+\.)+/, '')
  return protocol === 'anthropic' && name.startsWith('claude') && !UNBOUND.test(name)
}
