import type { Part } from '@opencode-ai/sdk'
import type { SessionMessage } from './events.js'
import type { Gateway } from './gateway.js'
import { referenceIn } from './outputs.js'

/** Compactions whose texts are kept: one for each session that is open, and more. */
const TEXTS_MAX = 200

/** The texts of sessions after their compactions: the same at each request, so that a provider's cache holds. */
export class Resumed {
  readonly #summarizing = new Set<string>()
  /** By session, of a compaction that has no message yet. */
  readonly #prepared = new Map<string, string>()
  /** By the message of the compaction. */
  readonly #texts = new Map<string, string>()

  constructor(private readonly gateway: Gateway) {}

  isSummarizing(session: string): boolean {
    return this.#summarizing.has(session)
  }

  async begins(session: string, directory: string): Promise<string> {
    this.#summarizing.add(session)
    const { text = '' } = (await this.gateway.send({ type: 'compacting', session, directory })) ?? {}
    if (text !== '') keepIn(this.#prepared, session, text)
    return text
  }

  ends(session: string): void {
    this.#summarizing.delete(session)
  }

  /** Changes the messages of a request in place: references of outputs that OpenCode cleared, and the text of the last compaction. */
  async add(messages: SessionMessage[]): Promise<void> {
    for (const [index, { info, parts }] of messages.entries()) {
      const changed = parts.map(withReference)
      if (changed.some((part, place) => part !== parts[place])) messages[index] = { info, parts: changed }
    }
    const place = messages.findLastIndex(({ parts }) => parts.some(({ type }) => type === 'compaction'))
    const compaction = messages[place]
    if (compaction === undefined) return
    const { id: messageID, sessionID } = compaction.info
    // Without its summary it is running now.
    const isDone = messages.some(
      ({ info }) => info.role === 'assistant' && info.summary === true && info.parentID === messageID,
    )
    const text = isDone ? await this.#textOf(messageID, sessionID) : ''
    if (text === '') return
    const part: Part = { id: `${messageID}-heddle`, sessionID, messageID, type: 'text', text, synthetic: true }
    messages[place] = { info: compaction.info, parts: [...compaction.parts, part] }
  }

  async #textOf(compaction: string, session: string): Promise<string> {
    const known = this.#texts.get(compaction)
    if (known !== undefined) return known
    // Of a compaction in an earlier run of OpenCode, the text of now.
    const prepared = this.#prepared.get(session)
    const answer = prepared === undefined ? await this.gateway.send({ type: 'resumed', session }) : { text: prepared }
    // The next request asks again.
    if (answer === null) return ''
    const { text = '' } = answer
    this.#prepared.delete(session)
    keepIn(this.#texts, compaction, text)
    return text
  }
}

/** OpenCode shows a cleared output as a fixed note: this one says where it is. */
function withReference(part: Part): Part {
  if (part.type !== 'tool' || part.state.status !== 'completed' || part.state.time.compacted === undefined) return part
  const reference = referenceIn(part.state.metadata)
  if (reference === null) return part
  const { compacted: _compacted, ...time } = part.state.time
  const output = `[Old tool result content cleared: [recall:${reference}] has all of it]`
  return { ...part, state: { ...part.state, output, time, attachments: [] } }
}

function keepIn(texts: Map<string, string>, key: string, text: string): void {
  const oldest = texts.keys().next().value
  if (texts.size >= TEXTS_MAX && oldest !== undefined) texts.delete(oldest)
  texts.set(key, text)
}
