import { once } from 'node:events'
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { type AnsweredPart, expansionOf, type Protocol } from '@heddle/core'
import type { ExchangeDeps } from '../exchange/deps.js'
import { NO_RECALLS, type RecalledFacts } from '../exchange/recalled-facts.js'
import { type Sending, type Usage, usageOf } from '../exchange/send.js'
import { sendError } from '../relay/errors.js'
import { headersForUpstream } from '../relay/headers.js'
import type { Target } from '../routes/target.js'
import { recallText } from './recall-text.js'
import { isReadable, relayRecalling } from './recalling-reply.js'

export interface RecallsOf {
  readonly sending: Sending
  readonly target: Target
  /** Of the caller. */
  readonly rawHeaders: readonly string[]
  readonly response: ServerResponse
  /** Called with the bytes that the caller gets. */
  onBytes(bytes: Buffer): void
}

/**
 * Takes over a reply to a request with the proxy's own tool, see {@link relayRecalling}.
 *
 * @param reply its head has arrived
 * @param headers for the caller
 * @returns null if the reply cannot be read on its way: it is then to be relayed as it is
 */
export function answerRecalls(
  deps: ExchangeDeps,
  { sending, target, rawHeaders, response, onBytes }: RecallsOf,
  { reply, headers }: { readonly reply: IncomingMessage; readonly headers: readonly string[] },
): Promise<RecalledFacts> | null {
  const { conversation, request, rendered, body, sent } = sending
  if (!isReadable(reply)) return null
  let current: ClientRequest | null = null
  response.once('close', () => {
    reply.destroy()
    current?.destroy()
  })
  let facts = NO_RECALLS

  async function open(bytes: Uint8Array): Promise<IncomingMessage> {
    const { host } = target.upstream
    current = deps.connections.open(target, {
      method: 'POST',
      headers: headersForUpstream({ raw: rawHeaders, host, bodyBytes: bytes.length, isReplyRead: true }),
      isFresh: false,
    })
    current.end(bytes)
    const [next] = (await once(current, 'response')) as [IncomingMessage]
    return next
  }

  function onParts(parts: readonly AnsweredPart[]): void {
    facts = factsOf(request.protocol, parts)
    const expansion = expansionOf(request.protocol, request.entries.length, parts)
    const { epoch } = conversation
    // Another request of the conversation may have been sent meanwhile.
    if (expansion === null || epoch === null || epoch.entries.length !== request.entries.length) return
    conversation.epoch = { ...epoch, expansions: [...epoch.expansions, expansion] }
    deps.states.save(conversation)
  }

  response.writeHead(reply.statusCode ?? 502, reply.statusMessage ?? '', withoutLength(headers))
  const relayed = relayRecalling(reply, {
    protocol: request.protocol,
    response,
    reader: deps.reader,
    body: rendered ?? body,
    sent,
    open,
    recall: (call) => {
      const { project, thread } = conversation
      return recallText(call, { thread, client: deps.backend()?.clientOf(project) ?? null, clock: deps.clock })
    },
    onBytes,
    onParts,
  })
  return relayed.then(
    () => facts,
    (error: unknown) => {
      deps.log.warn({ error }, 'a reply with recalls ended early')
      sendError(response, target.upstream.protocol, {
        status: 502,
        code: 'recall_failed',
        message: 'The upstream failed while a text was recalled.',
      })
      return facts
    },
  )
}

function factsOf(protocol: Protocol, parts: readonly AnsweredPart[]): RecalledFacts {
  const usages = parts.map(({ usage }) => usageOf(protocol, { usage }))
  const [first = null, last = null] = [usages[0], usages.at(-1)]
  return {
    recalls: parts.reduce((sum, { recalls }) => sum + recalls.length, 0),
    requests: parts.length,
    usage: usages.reduce<Usage | null>((sum, usage) => (usage === null ? sum : added(sum, usage)), null),
    asked: first === null || last === null ? null : { ...first, output: last.output },
  }
}

/** A reply that is read on its way may get another length. */
function withoutLength(headers: readonly string[]): string[] {
  return headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== 'content-length')
}

function added(one: Usage | null, other: Usage): Usage {
  if (one === null) return other
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
  }
}
