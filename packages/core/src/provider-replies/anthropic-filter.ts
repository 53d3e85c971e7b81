import type { JsonObject } from '@heddle/contracts'
import { isObject, parseObject, textIn } from '../provider-requests/blocks.js'
import { RECALL_TOOL } from '../provider-requests/recall-tool.js'
import type { RecallCall, ReplyFilter, ReplyPart } from './reply-filter.js'

interface Block {
  value: JsonObject
  /** The arguments of a call so far. */
  json: string
  readonly isHidden: boolean
  /** Its position in the client's reply. */
  readonly shownAs: number
}

/**
 * Filters the stream of Anthropic's Messages API. Blocks get the positions of one reply, though several requests may have
 * made it; only the first part begins it, and only the last one ends it.
 */
export class AnthropicFilter implements ReplyFilter {
  #blocks = new Map<number, Block>()
  #shown = 0
  #parts = 0
  #outputTokens = 0
  #tokensBefore = 0
  #held: string[] = []
  #stopReason = ''
  #usage: JsonObject = {}

  push(data: string, raw: string): string[] {
    const event = parseObject(data)
    switch (event?.['type']) {
      case 'message_start':
        this.#note(isObject(event['message']) ? event['message']['usage'] : undefined)
        return this.#parts === 0 ? [raw] : []
      case 'content_block_start':
        return this.#begin(event, raw)
      case 'content_block_delta':
        this.#extend(event)
        return this.#shift(event, raw)
      case 'content_block_stop':
        return this.#shift(event, raw)
      case 'message_delta':
        return this.#hold(event, raw)
      case 'message_stop':
        return this.#ends() ? [...this.#held.splice(0), raw] : []
      default:
        return [raw]
    }
  }

  flush(): string[] {
    return this.#ends() ? this.#held.splice(0) : []
  }

  endPart(): ReplyPart {
    const blocks = [...this.#blocks.values()]
    const recalls = blocks.filter(({ isHidden }) => isHidden).map(callOf)
    const part = {
      recalls,
      isContinued: !this.#ends(),
      entry: { role: 'assistant', content: blocks.map(blockOf) },
      usage: this.#usage,
    }
    this.#usage = {}
    this.#blocks = new Map()
    this.#held = []
    this.#stopReason = ''
    this.#parts++
    this.#tokensBefore += this.#outputTokens
    this.#outputTokens = 0
    return part
  }

  /** Whether the client has something to do, or the model is done. */
  #ends(): boolean {
    const blocks = [...this.#blocks.values()]
    const isRecalling = this.#stopReason === 'tool_use' && blocks.some(({ isHidden }) => isHidden)
    return !isRecalling || blocks.some(({ isHidden, value }) => !isHidden && value['type'] === 'tool_use')
  }

  #begin(event: JsonObject, raw: string): string[] {
    const value = isObject(event['content_block']) ? { ...event['content_block'] } : {}
    const isHidden = value['type'] === 'tool_use' && value['name'] === RECALL_TOOL
    this.#blocks.set(Number(event['index']), { value, json: '', isHidden, shownAs: this.#shown })
    if (!isHidden) this.#shown++
    return this.#shift(event, raw)
  }

  #extend(event: JsonObject): void {
    const block = this.#blocks.get(Number(event['index']))
    const delta = event['delta']
    if (block === undefined || !isObject(delta)) return
    const { value } = block
    switch (delta['type']) {
      case 'input_json_delta':
        block.json += textIn(delta['partial_json']) ?? ''
        break
      case 'text_delta':
        value['text'] = `${textIn(value['text']) ?? ''}${textIn(delta['text']) ?? ''}`
        break
      case 'thinking_delta':
        value['thinking'] = `${textIn(value['thinking']) ?? ''}${textIn(delta['thinking']) ?? ''}`
        break
      case 'signature_delta':
        value['signature'] = delta['signature'] ?? ''
        break
      case 'citations_delta':
        value['citations'] = [
          ...(Array.isArray(value['citations']) ? value['citations'] : []),
          delta['citation'] ?? null,
        ]
        break
    }
  }

  /** The event under its position in the client's reply; nothing for a block that the client does not see. */
  #shift(event: JsonObject, raw: string): string[] {
    const block = this.#blocks.get(Number(event['index']))
    if (block === undefined) return [raw]
    if (block.isHidden) return []
    return block.shownAs === event['index'] ? [raw] : [eventOf({ ...event, index: block.shownAs })]
  }

  /** The beginning counts the input, the end the output. */
  #note(usage: unknown): void {
    if (isObject(usage)) this.#usage = { ...this.#usage, ...usage }
  }

  /** The end of a message waits until it is known whether the reply goes on. */
  #hold(event: JsonObject, raw: string): string[] {
    const delta = event['delta']
    if (isObject(delta)) this.#stopReason = textIn(delta['stop_reason']) ?? this.#stopReason
    const usage = event['usage']
    if (isObject(usage)) this.#outputTokens = Number(usage['output_tokens'] ?? 0)
    this.#note(usage)
    this.#held.push(
      this.#tokensBefore > 0 && isObject(usage)
        ? eventOf({ ...event, usage: { ...usage, output_tokens: this.#tokensBefore + this.#outputTokens } })
        : raw,
    )
    return []
  }
}

function callOf({ value, json }: Block): RecallCall {
  return { id: textIn(value['id']) ?? '', input: inputOf(value, json) }
}

function blockOf({ value, json }: Block): JsonObject {
  if (value['type'] !== 'tool_use' && value['type'] !== 'server_tool_use') return value
  return { ...value, input: inputOf(value, json) ?? {} }
}

function inputOf(value: JsonObject, json: string): JsonObject | null {
  const input = json === '' ? value['input'] : parseObject(json)
  return isObject(input) ? input : null
}

function eventOf(event: JsonObject): string {
  return `event: ${event['type'] as string}\ndata: ${JSON.stringify(event)}\n\n`
}
