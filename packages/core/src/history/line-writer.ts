import type { ToolCall } from '@heddle/contracts'
import { elidedInput, isElidable } from '../conversation/calls.js'
import type { Conversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import type { ToolPair } from '../conversation/turns.js'
import type { NeutralMessage } from '../formats/neutral-message.js'
import { NO_RESULT_TEXT } from '../formats/repair.js'
import { wholeThinking } from '../formats/thinking.js'
import { contentWithLines, mayDeliverParts, partReference } from '../parts/line.js'
import { withoutRoom } from '../parts/room.js'
import { FAILED_REASON } from '../prune/rules.js'
import type { Line } from './line.js'
import { elidedArguments, type Fate, type FateOptions } from './message-outcomes.js'
import { sharedLine } from './shared-lines.js'

/** Writes messages in their order, as lines in which each call is followed by its result; see `layOutHistory`. */
export class LineWriter {
  readonly lines: Line[] = []
  readonly #written = new Set<string>()
  readonly #callIds = new Set<string>()
  readonly #withoutRoom: ReadonlySet<string>
  #unanswered = 0
  #asText = 0

  constructor(
    private readonly conversation: Conversation,
    private readonly fates: ReadonlyMap<string, Fate>,
    private readonly options: FateOptions,
  ) {
    const showing = conversation.messages.filter(
      ({ id, role }) => fates.get(id)?.mode === 'raw' && mayDeliverParts(role),
    )
    this.#withoutRoom = withoutRoom(showing)
  }

  /**
   * Messages of one run: those before its first call are separate messages, the rest is one message with parallel
   * calls.
   */
  writeRun(run: readonly Message[]): void {
    const firstCall = run.findIndex((message) => message.toolCalls.length > 0)
    const alone = firstCall < 0 ? run : run.slice(0, firstCall)
    for (const message of alone) this.#writePlain(message, 'assistant')
    if (firstCall >= 0) this.#writeCalls(run.slice(firstCall))
  }

  writeOther(message: Message): void {
    if (this.#written.has(message.id) || this.#callFollows(message)) return
    if (message.role === 'tool_result') this.#writeLooseResult(message)
    else this.#writePlain(message, message.role === 'system' ? 'system' : 'user')
  }

  /** A result that sorts before its call is written together with it. */
  #callFollows(message: Message): boolean {
    const pair = this.conversation.pairs.byResult.get(message.id)
    return pair !== undefined && this.fates.has(pair.callMessage.id)
  }

  notes(): string[] {
    return [
      ...(this.#unanswered > 0 ? [`${this.#unanswered} calls without a recorded result were given a placeholder`] : []),
      ...(this.#asText > 0 ? [`${this.#asText} results whose calls are not in the context are included as text`] : []),
    ]
  }

  #fate(message: Message): Fate {
    if (this.#withoutRoom.has(message.id)) {
      const content = contentWithLines(message, this.options.reference(message))
      return { mode: 'elided', content, reason: 'more images and files than one request takes' }
    }
    return this.fates.get(message.id) ?? { mode: 'raw', content: message.content, reason: 'recent' }
  }

  /** The parts of a verbatim message; the text of any other message names them. */
  #parts(message: Message, { mode }: Fate): Pick<NeutralMessage, 'parts'> {
    if (mode !== 'raw' || message.parts === undefined || !mayDeliverParts(message.role)) return {}
    const reference = this.options.reference(message)
    return { parts: message.parts.map((part, index) => ({ ...part, reference: partReference(reference, index) })) }
  }

  #textOf(message: Message, { mode, content }: Fate): string {
    return mode === 'raw' ? contentWithLines(message, this.options.reference(message)) : content
  }

  #writePlain(message: Message, role: NeutralMessage['role']): void {
    const fate = this.#fate(message)
    const thinking = wholeThinking(message)
    const neutral: NeutralMessage = {
      role,
      content: fate.content,
      ...this.#parts(message, fate),
      ...(thinking.length > 0 && { thinking }),
    }
    this.#write({ neutral, sources: [{ message, fate, asText: false }] })
  }

  #writeCalls(messages: readonly Message[]): void {
    const calls: ToolCall[] = []
    const results: Line[] = []
    const shortened = new Set<string>()
    const hasThinking = messages.some((message) => wholeThinking(message).length > 0)
    for (const message of messages) {
      const { mode, calls: condensed = [] } = this.#fate(message)
      const isElided = mode === 'elided'
      for (const pair of this.conversation.pairs.byCallMessage.get(message.id) ?? []) {
        const id = this.#uniqueCallId(pair.call.id, message.code, pair.callIndex)
        const isNeedless = this.#isOldFailure(pair, hasThinking)
        const isLong = isElidable(pair.call)
        const line = condensed.find(({ number }) => number === pair.callIndex + 1)?.text
        const args =
          isLong && (isElided || isNeedless)
            ? elidedArguments(this.options.reference(message), pair.callIndex)
            : pair.call.arguments
        calls.push({ ...pair.call, id, arguments: line === undefined ? args : elidedInput(line) })
        if (isLong && isNeedless) shortened.add(message.id)
        results.push(this.#resultLine(pair.result, pair.call, id))
      }
    }
    const thinking = messages.flatMap(wholeThinking)
    const content = messages.map((message) => this.#fate(message).content).filter((text) => text.trim() !== '')
    this.#write({
      neutral: {
        role: 'assistant',
        content: content.join('\n\n'),
        toolCalls: calls,
        ...(thinking.length > 0 && { thinking }),
      },
      sources: messages.map((message) => {
        const fate = this.#fate(message)
        const isChanged = fate.mode === 'raw' && shortened.has(message.id)
        return {
          message,
          fate: isChanged ? { ...fate, mode: 'elided', reason: 'input of an old failed call' } : fate,
          asText: false,
        }
      }),
    })
    for (const result of results) this.#write(result)
  }

  #write(line: Line): void {
    this.lines.push(sharedLine(line))
  }

  /**
   * Whether a call failed so long ago that its result is only a line that says so: then its input is useless. Beside
   * signed reasoning a call is kept unchanged, as providers require.
   */
  #isOldFailure({ result }: ToolPair, hasThinking: boolean): boolean {
    const fate = result === null || hasThinking ? undefined : this.fates.get(result.id)
    return fate?.mode === 'stub' && fate.reason === FAILED_REASON
  }

  #resultLine(result: Message | null, call: ToolCall, id: string): Line {
    const isHere = result !== null && this.fates.has(result.id)
    const neutral: NeutralMessage = {
      role: 'tool_result',
      content: NO_RESULT_TEXT,
      toolCallId: id,
      toolName: call.name,
    }
    if (!isHere) {
      this.#unanswered++
      return { neutral, sources: [] }
    }
    this.#written.add(result.id)
    const fate = this.#fate(result)
    return {
      neutral: {
        ...neutral,
        content: fate.content,
        ...this.#parts(result, fate),
        ...(result.isError && { isError: true }),
      },
      sources: [{ message: result, fate, asText: false }],
    }
  }

  #writeLooseResult(message: Message): void {
    this.#asText++
    const fate = this.#fate(message)
    const name = message.toolName === null ? 'a tool' : message.toolName
    const content = `[result of an earlier call of ${name}, [recall:${this.options.reference(message)}]]\n${this.#textOf(message, fate)}`
    this.#write({ neutral: { role: 'user', content }, sources: [{ message, fate, asText: true }] })
  }

  /** The first call with an id keeps it; a later one gets its message's code appended, which never changes. */
  #uniqueCallId(id: string, code: string, index: number): string {
    const unique = this.#callIds.has(id) ? `${id}_${code}_${index}` : id
    this.#callIds.add(unique)
    return unique
  }
}
