import type { Block, ReplaySession } from './session.js'

/** Tokens as the provider reports them. */
export interface ReportedTokens {
  readonly inTokens: number
  readonly cachedTokens: number
  readonly outTokens: number
}

/** A recorded reply as its provider sends it without a stream. */
export function replyBody(session: ReplaySession, reply: readonly Block[], tokens: ReportedTokens): string {
  const { protocol, model } = session
  const [input, cached, output] = [tokens.inTokens, tokens.cachedTokens, tokens.outTokens].map(Math.round) as [
    number,
    number,
    number,
  ]
  if (protocol === 'anthropic') {
    const usage = {
      input_tokens: 0,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: input - cached,
      output_tokens: output,
    }
    const isCall = reply.some(({ type }) => type === 'tool_use')
    return JSON.stringify({
      id: 'msg_replayed',
      type: 'message',
      role: 'assistant',
      model,
      content: reply,
      stop_reason: isCall ? 'tool_use' : 'end_turn',
      usage,
    })
  }
  const [message] = reply
  return JSON.stringify({
    id: 'chatcmpl-replayed',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: message?.['tool_calls'] === undefined ? 'stop' : 'tool_calls' }],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    },
  })
}
