import type { JsonObject } from '@heddle/contracts'
import { isObject, objectsIn, parseObject, textIn } from '../provider-requests/blocks.js'
import { RECALL_TOOL } from '../provider-requests/recall-tool.js'
import type { RecallCall, ReplyFilter, ReplyPart } from './reply-filter.js'

interface Call {
  id: string
  name: string
  json: string
  /** Its position among the client's calls; null for one that the client does not see. */
  shownAs: number | null
}

/** Filters the stream of OpenAI's chat completions with one choice. */
export class ChatFilter implements ReplyFilter {
  #calls = new Map<number, Call>()
  #content = ''
  #hasContent = false
  #shown = 0
  #isFirst = true
  #finish = ''
  #held: string[] = []
  #usage: JsonObject = {}

  push(data: string, raw: string): string[] {
    if (data === '[DONE]') return this.#ends() ? [...this.#held.splice(0), raw] : []
    const chunk = parseObject(data)
    const usage = chunk?.['usage']
    if (isObject(usage)) this.#usage = usage
    const [choice] = objectsIn(chunk?.['choices'])
    const delta = choice?.['delta']
    if (chunk === null || choice === undefined || !isObject(delta)) return this.#hold(raw)
    const finish = textIn(choice['finish_reason'])
    const text = textIn(delta['content'])
    if (text !== null) {
      this.#content += text
      this.#hasContent = true
    }
    const calls = objectsIn(delta['tool_calls'])
    const shown = calls.flatMap((call) => this.#take(call))
    if (finish !== null) {
      this.#finish = finish
      return this.#hold(raw)
    }
    if (calls.length > 0 && shown.length === 0) return []
    if (!this.#isFirst && text === '' && calls.length === 0) return []
    return calls.length === 0
      ? [raw]
      : [eventOf({ ...chunk, choices: [{ ...choice, delta: { ...delta, tool_calls: shown } }] })]
  }

  flush(): string[] {
    return this.#ends() ? this.#held.splice(0) : []
  }

  endPart(): ReplyPart {
    const calls = [...this.#calls.values()]
    const part = {
      recalls: calls.filter(({ shownAs }) => shownAs === null).map(callOf),
      isContinued: !this.#ends(),
      entry: {
        role: 'assistant',
        content: this.#hasContent ? this.#content : null,
        ...(calls.length > 0 && { tool_calls: calls.map(toolCallOf) }),
      },
      usage: this.#usage,
    }
    this.#usage = {}
    this.#calls = new Map()
    this.#content = ''
    this.#hasContent = false
    this.#finish = ''
    this.#held = []
    this.#isFirst = false
    return part
  }

  #ends(): boolean {
    const calls = [...this.#calls.values()]
    const isRecalling = this.#finish === 'tool_calls' && calls.some(({ shownAs }) => shownAs === null)
    return !isRecalling || calls.some(({ shownAs }) => shownAs !== null)
  }

  /** Collects a piece of a call. @returns it as the client gets it, if it does */
  #take(piece: JsonObject): JsonObject[] {
    const index = Number(piece['index'] ?? 0)
    const given = isObject(piece['function']) ? piece['function'] : {}
    let call = this.#calls.get(index)
    if (call === undefined) {
      const name = textIn(given['name']) ?? ''
      call = { id: textIn(piece['id']) ?? '', name, json: '', shownAs: name === RECALL_TOOL ? null : this.#shown++ }
      this.#calls.set(index, call)
    }
    call.json += textIn(given['arguments']) ?? ''
    return call.shownAs === null ? [] : [{ ...piece, index: call.shownAs }]
  }

  /** The end of a reply waits until it is known whether the reply goes on. */
  #hold(raw: string): string[] {
    if (this.#finish === '') return [raw]
    this.#held.push(raw)
    return []
  }
}

function callOf({ id, json }: Call): RecallCall {
  return { id, input: parseObject(json) }
}

function toolCallOf({ id, name, json }: Call): JsonObject {
  return { id, type: 'function', function: { name, arguments: json } }
}

function eventOf(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
