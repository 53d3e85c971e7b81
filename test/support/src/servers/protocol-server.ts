import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropicCall, anthropicEvents, openAiCall, openAiCompletion, openAiEvents } from './protocol-streams.js'

/** A request as a provider received it, whatever the protocol. */
export interface ProtocolRequest {
  readonly protocol: 'openai' | 'anthropic' | 'embeddings'
  readonly model: string
  /** For embeddings; empty for other requests. */
  readonly texts: readonly string[]
  readonly system: string
  readonly user: string
  /** All messages of a chat, as they were sent. */
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[]
  /** Whether the answer has to be a stream. Default true: the anthropic protocol knows no other here. */
  readonly isStreamed?: boolean
  /** The requested maximum length of the answer. */
  readonly outputTokensMax: number
  readonly key: string
  /** Its number among all requests, from 1. */
  readonly number: number
}

/** The possible reactions of a provider; every fault that a summarizer has to survive. */
export type ProtocolReply =
  | { readonly kind: 'text'; readonly text: string; readonly afterMs?: number }
  /** A tool call without a text. */
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: object }
  /** In the order of the texts; they are sent in another. */
  | { readonly kind: 'vectors'; readonly vectors: readonly (readonly number[])[] }
  /** Ends at the maximum length. */
  | { readonly kind: 'length'; readonly text: string }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'overflow'; readonly windowTokens: number; readonly requestedTokens: number }
  /** Part of the answer, and then the connection is dropped. */
  | { readonly kind: 'cut' }
  /** Part of the answer, and then a regular end. */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'malformed' }
  /** No answer. */
  | { readonly kind: 'silent' }

export type Responder = (request: ProtocolRequest) => ProtocolReply | Promise<ProtocolReply>

export interface ProtocolServer {
  /** For OpenAI's SDK. */
  readonly openAiUrl: string
  /** For Anthropic's SDK. */
  readonly anthropicUrl: string
  readonly requests: readonly ProtocolRequest[]
  /** Its reaction from now on. */
  respond(responder: Responder): void
  close(): Promise<void>
}

/** The beginning of the request's text: never empty, and shorter than its source. */
export function plainSummary({ user }: Pick<ProtocolRequest, 'user'>): ProtocolReply {
  const body = user.split('---\n')[1] ?? user
  const words = body.split(/\s+/).filter((word) => /^[\p{L}\p{N}]/u.test(word))
  return { kind: 'text', text: `They spoke of: ${words.slice(0, 12).join(' ')}.` }
}

/** Speaks OpenAI's chat completions and embeddings and Anthropic's messages on its own port, like the real services. */
export async function startProtocolServer(first: Responder = plainSummary): Promise<ProtocolServer> {
  let responder = first
  const requests: ProtocolRequest[] = []
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy())
  })
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = { ...(await readRequest(incoming)), number: requests.length + 1 }
    requests.push(request)
    await send(await responder(request), request, response)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    openAiUrl: `${url}/v1`,
    anthropicUrl: url,
    requests,
    respond(next) {
      responder = next
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

interface Body {
  readonly stream?: boolean
  readonly model: string
  readonly system?: string
  readonly messages?: readonly { role: string; content: unknown }[]
  readonly input?: readonly string[]
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
}

async function readRequest(incoming: IncomingMessage): Promise<Omit<ProtocolRequest, 'number'>> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  const body = JSON.parse(Buffer.concat(parts).toString()) as Body
  const contentOf = (role: string) => {
    const content = body.messages?.find((message) => message.role === role)?.content ?? ''
    return typeof content === 'string' ? content : JSON.stringify(content)
  }
  const { authorization = '', 'x-api-key': key = '' } = incoming.headers
  return {
    protocol: protocolOf(incoming.url ?? ''),
    model: body.model,
    texts: body.input ?? [],
    system: body.system ?? contentOf('system'),
    user: contentOf('user'),
    messages: body.messages ?? [],
    isStreamed: body.stream === true,
    outputTokensMax: body.max_completion_tokens ?? body.max_tokens ?? 0,
    key: String(key) || authorization.replace(/^Bearer /, ''),
  }
}

function protocolOf(url: string): ProtocolRequest['protocol'] {
  if (url.endsWith('/embeddings')) return 'embeddings'
  return url.endsWith('/messages') ? 'anthropic' : 'openai'
}

async function send(reply: ProtocolReply, request: ProtocolRequest, response: ServerResponse): Promise<void> {
  switch (reply.kind) {
    case 'silent':
      return
    case 'status':
      return sendError(response, reply.status, 'it went wrong', reply.retryAfter)
    case 'vectors':
      return sendVectors(response, request, reply.vectors)
    case 'overflow':
      return sendError(response, 400, overflowWords(request, reply))
    default:
  }
  if (reply.kind === 'text' && reply.afterMs !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, reply.afterMs))
  }
  if (
    request.protocol === 'openai' &&
    request.isStreamed === false &&
    (reply.kind === 'text' || reply.kind === 'call')
  ) {
    response.writeHead(200, { 'content-type': 'application/json' })
    return void response.end(JSON.stringify(openAiCompletion(request, reply)))
  }
  const contentType = request.protocol === 'embeddings' ? 'application/json' : 'text/event-stream'
  response.writeHead(200, { 'content-type': contentType })
  if (reply.kind === 'malformed') return void response.end('data: {"choices": [{"delta": \n\n')
  if (reply.kind === 'call') {
    const call = request.protocol === 'openai' ? openAiCall : anthropicCall
    return void response.end([...call(request, reply)].join(''))
  }
  const text = reply.kind === 'text' || reply.kind === 'length' ? reply.text : 'They spoke of many things and'
  const pieces = reply.kind === 'refusal' ? [] : (text.match(/[\s\S]{1,40}/g) ?? [])
  const stream = request.protocol === 'openai' ? openAiEvents : anthropicEvents
  const events = stream(request, pieces, reply.kind)
  for (const event of events) response.write(event)
  if (reply.kind === 'cut') {
    // The written part must be sent before the connection is dropped.
    await new Promise<void>((resolve) => response.write(': \n\n', () => resolve()))
    return void response.destroy()
  }
  response.end()
}

function sendVectors(
  response: ServerResponse,
  { model }: ProtocolRequest,
  vectors: readonly (readonly number[])[],
): void {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse()
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }))
}

function overflowWords(
  { protocol }: ProtocolRequest,
  counts: { windowTokens: number; requestedTokens: number },
): string {
  const { windowTokens, requestedTokens } = counts
  return protocol === 'openai'
    ? `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${requestedTokens} tokens. Please reduce the length of the messages.`
    : `prompt is too long: ${requestedTokens} tokens > ${windowTokens} maximum`
}

function sendError(response: ServerResponse, status: number, message: string, retryAfter?: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  })
  response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }))
}
