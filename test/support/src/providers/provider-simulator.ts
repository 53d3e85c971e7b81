import { AnthropicReplies } from './anthropic-replies.js'
import { anthropicRequestFaults } from './anthropic-rules.js'
import { type Fields, isFields } from './fields.js'
import { openAiChatRequestFaults } from './openai-chat-rules.js'
import { OpenAiReplies } from './openai-replies.js'
import { openAiResponsesRequestFaults } from './openai-responses-rules.js'
import { modelPrices } from './prices.js'
import { AutomaticCache, type InputUsage, MarkedCache } from './prompt-cache.js'
import { type CountText, type ProviderProtocol, type RequestPart, requestParts } from './request-parts.js'

export interface SimulatedAnswer {
  /** The violated rules, for which the provider would answer 400; empty for a valid request. */
  readonly faults: readonly string[]
  readonly parts: readonly RequestPart[]
  readonly usage: InputUsage
  /** Micro-dollars of the input; 0 for a refused request. */
  readonly inputCost: number
}

export interface ProviderSimulatorOptions {
  readonly protocol: ProviderProtocol
  readonly clock: { nowMs(): number }
  readonly count: CountText
}

/**
 * A provider without a model: it judges each request by the published rules of its protocol, and prices it by the prompt cache that
 * the requests before it filled. It sends no replies: a replay issues those that were recorded.
 */
export class ProviderSimulator {
  readonly #cache: MarkedCache | AutomaticCache
  readonly #anthropic = new AnthropicReplies()
  readonly #openAi = new OpenAiReplies()

  constructor(private readonly options: ProviderSimulatorOptions) {
    this.#cache = options.protocol === 'anthropic' ? new MarkedCache() : new AutomaticCache()
  }

  /** @param body the bytes of a request, or their text */
  request(body: Uint8Array | string): SimulatedAnswer {
    const { protocol, clock, count } = this.options
    const parsed = parse(body)
    const refused = (faults: readonly string[]) => ({ faults, parts: [], usage: NOTHING, inputCost: 0 })
    if (parsed === null) return refused(['the body is not a JSON object'])
    const faults = this.#faults(parsed)
    if (faults.length > 0) return refused(faults)
    const model = String(parsed['model'])
    const prices = modelPrices(model)
    const parts = requestParts(protocol, parsed, count)
    const usage = this.#cache.send(model, parts, prices.cacheTokensMin, clock.nowMs())
    const { input, cacheRead, write5m, write1h } = usage
    const inputCost =
      input * prices.input + cacheRead * prices.cacheRead + write5m * prices.write5m + write1h * prices.write1h
    return { faults, parts, usage, inputCost }
  }

  /** Remembers a reply: the content blocks of Anthropic, or the output items of a response. */
  issue(reply: readonly Fields[]): void {
    if (this.options.protocol === 'anthropic') this.#anthropic.issue(reply)
    else this.#openAi.issue(reply)
  }

  #faults(body: Fields): string[] {
    switch (this.options.protocol) {
      case 'anthropic':
        return [...anthropicRequestFaults(body), ...this.#anthropic.faults(body)]
      case 'openai-chat':
        return openAiChatRequestFaults(body)
      case 'openai-responses':
        return [...openAiResponsesRequestFaults(body), ...this.#openAi.faults(body)]
    }
  }
}

const NOTHING: InputUsage = { input: 0, cacheRead: 0, write5m: 0, write1h: 0 }

function parse(body: Uint8Array | string): Fields | null {
  try {
    const value: unknown = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'))
    return isFields(value) ? value : null
  } catch {
    return null
  }
}
