import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonObject } from '@heddle/contracts'
import {
  type AnsweredPart,
  appendEntries,
  entriesToContinue,
  joinReplies,
  type Protocol,
  type ProviderRequest,
  type RecallCall,
  type RequestReader,
  readWholeReply,
  replyFilterOf,
  ServerEventReader,
} from '@heddle/core'

/** Requests that one reply may take. A model that asks again and again gets no further texts. */
const PARTS_MAX = 8
const REPLY_BYTES_MAX = 32 * 1024 * 1024

export interface Recalling {
  readonly protocol: Protocol
  readonly response: ServerResponse
  readonly reader: RequestReader
  /** The body that was sent, and what it holds. */
  readonly body: Uint8Array
  readonly sent: ProviderRequest
  /** Sends a further request of the same reply. */
  open(body: Uint8Array): Promise<IncomingMessage>
  recall(call: RecallCall): Promise<string>
  /** Called with the bytes that the caller gets. */
  onBytes(bytes: Buffer): void
  /** Called before the caller gets the end of the reply. */
  onParts(parts: readonly AnsweredPart[]): void
}

/** Whether a reply can be read on its way. */
export function isReadable({ statusCode, headers }: IncomingMessage): boolean {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = headers
  return statusCode === 200 && encoding === 'identity' && /text\/event-stream|application\/json/i.test(type)
}

/**
 * Relays a reply without the calls of the proxy's own tool, which it answers: while the model waits for nothing else, the reply
 * goes on with a further request, and the caller sees one reply.
 *
 * @throws if an upstream fails; what the caller got until then is valid as far as it goes
 */
export async function relayRecalling(first: IncomingMessage, recalling: Recalling): Promise<void> {
  const isStream = /text\/event-stream/i.test(first.headers['content-type'] ?? '')
  await (isStream ? relayStream(first, recalling) : relayWhole(first, recalling))
}

async function relayStream(first: IncomingMessage, recalling: Recalling): Promise<void> {
  const { protocol, response, onParts } = recalling
  const filter = replyFilterOf(protocol)
  if (filter === null) throw new Error(`the protocol ${protocol} has no filter`)
  const parts: AnsweredPart[] = []
  let request = { body: recalling.body, sent: recalling.sent }
  for (let upstream = first; ; upstream = await recalling.open(request.body)) {
    if (upstream !== first && !isReadable(upstream)) throw new Error(`the upstream answered ${upstream.statusCode}`)
    const reader = new ServerEventReader()
    const ending: string[] = []
    for await (const chunk of upstream) {
      for (const { data, raw } of reader.push(chunk as Buffer)) {
        const shown = filter.push(data, raw)
        if (isEnd(data)) ending.push(...shown)
        else await write(recalling, shown.join(''))
      }
    }
    ending.push(...filter.flush(), reader.rest)
    const answered = await answer(filter.endPart(), recalling)
    parts.push(answered)
    if (!answered.isContinued) {
      onParts(parts)
      await write(recalling, ending.join(''))
      response.end()
      return
    }
    if (parts.length >= PARTS_MAX) throw new Error(`the model recalled ${PARTS_MAX} times in one reply`)
    request = continued(request, answered, recalling)
  }
}

async function relayWhole(first: IncomingMessage, recalling: Recalling): Promise<void> {
  const { protocol, response, onParts, onBytes } = recalling
  const parts: AnsweredPart[] = []
  const shown: JsonObject[] = []
  let request = { body: recalling.body, sent: recalling.sent }
  for (let upstream = first; ; upstream = await recalling.open(request.body)) {
    const text = await textOf(upstream)
    const read = readWholeReply(protocol, JSON.parse(text) as JsonObject)
    if (upstream !== first && (read === null || upstream.statusCode !== 200)) throw new Error('the upstream failed')
    const answered = read === null ? null : await answer(read.part, recalling)
    if (read !== null && answered !== null) {
      parts.push(answered)
      shown.push(read.shown)
    }
    if (answered === null || !answered.isContinued) {
      onParts(parts)
      const isRecalled = parts.some(({ recalls }) => recalls.length > 0)
      const bytes = Buffer.from(isRecalled ? JSON.stringify(joinReplies(protocol, shown)) : text)
      onBytes(bytes)
      response.end(bytes)
      return
    }
    if (parts.length >= PARTS_MAX) throw new Error(`the model recalled ${PARTS_MAX} times in one reply`)
    request = continued(request, answered, recalling)
  }
}

async function answer(part: Omit<AnsweredPart, 'texts'>, { recall }: Recalling): Promise<AnsweredPart> {
  return { ...part, texts: await Promise.all(part.recalls.map((call) => recall(call))) }
}

function continued(
  { body, sent }: Pick<Recalling, 'body' | 'sent'>,
  part: AnsweredPart,
  { protocol, reader }: Recalling,
): Pick<Recalling, 'body' | 'sent'> {
  const longer = appendEntries(sent, body, entriesToContinue(protocol, part))
  const read = reader.read(protocol, longer)
  if (read === null) throw new Error('the request of a recalled text could not be read')
  return { body: longer, sent: read }
}

/** Whether an event ends a reply, so that its caller may send the next request. */
function isEnd(data: string): boolean {
  return data === '[DONE]' || data.includes('"message_stop"')
}

async function write({ response, onBytes }: Recalling, text: string): Promise<void> {
  if (text === '' || response.destroyed) return
  const bytes = Buffer.from(text)
  onBytes(bytes)
  if (!response.write(bytes)) await Promise.race([once(response, 'drain'), once(response, 'close')])
}

async function textOf(reply: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of reply) {
    bytes += (part as Buffer).length
    if (bytes > REPLY_BYTES_MAX) throw new Error('the reply is too large')
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts).toString()
}
