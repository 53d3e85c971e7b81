import type { IncomingMessage, ServerResponse } from 'node:http'
import { newId } from '@heddle/client/calls'
import { HeddleError } from '@heddle/contracts'
import { COMPACTED, compactionReply, expandCompactions, type ProviderRequest, readEntryAt } from '@heddle/core'
import { textOfContext } from '../exchange/covered-by.js'
import type { ExchangeDeps } from '../exchange/deps.js'
import { type Understood, understand } from '../exchange/understand.js'
import { type ProxyError, sendError } from '../relay/errors.js'
import { RequestBody } from '../relay/request-body.js'

export interface CompactionRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Null if nothing can be stored. */
  readonly project: string | null
}

const BODY_BYTES_MAX = 32 * 1024 * 1024
/** Longest time for storing the conversation, and for building its context. */
const STORE_MS_MAX = 30_000
const BUILD_MS_MAX = 60_000
const CHARACTERS_PER_TOKEN = 4

/** Answers `POST /responses/compact` from the stored thread of the conversation, for an upstream that cannot. */
export async function answerCompaction(
  deps: ExchangeDeps,
  { request, response, project }: CompactionRequest,
): Promise<void> {
  const copy = deps.memory.open()
  const body = new RequestBody(request, { bytesMax: BODY_BYTES_MAX, reserve: copy.reserve })
  try {
    const answer = JSON.stringify(await compact(deps, { bytes: await body.whole(), request, project }))
    deps.metrics.compacted('answered')
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer),
      'x-heddle-mode': 'compaction',
    })
    response.end(answer)
  } catch (error) {
    const refused = error instanceof Refused
    deps.metrics.compacted(refused ? 'refused' : 'failed')
    if (!refused) deps.log.warn({ error }, 'a conversation could not be compacted for a client')
    sendError(response, 'openai', refused ? error.answer : failureOf(error))
  } finally {
    body.forget()
    copy.release()
  }
}

interface Given {
  readonly bytes: Buffer | null
  readonly request: IncomingMessage
  readonly project: string | null
}

async function compact(deps: ExchangeDeps, { bytes, request, project }: Given): Promise<object> {
  const contexts = project === null ? undefined : deps.backend()?.clientOf(project).contexts
  if (project === null || contexts === undefined) throw new Error('there is no store yet')
  if (bytes === null) throw new Refused(413, 'too_large', 'The conversation is too large to be compacted.')
  const { body, thread } = expandCompactions(bytes)
  const received = { protocol: 'openai-responses' as const, project, headers: request.headers, body, thread }
  const found = await understand(deps, received)
  if (found === null) throw new Refused(400, 'no_input', 'The input has to be a list of items that can be read.')
  if (found.request.isOwnedByProvider) {
    const message = 'Heddle compacts what the input holds: neither a stored response, nor items of another compaction.'
    throw new Refused(400, 'not_in_input', message)
  }
  if (!(await deps.recorder.storeNow(found, STORE_MS_MAX, true)))
    throw new Error('the conversation could not be stored')
  const { conversation } = found
  const { summaryTokens, keptTokens } = deps.policy
  const context = await contexts.build(
    {
      thread: conversation.thread,
      agent: conversation.agent,
      budget: summaryTokens + keptTokens,
      strategy: 'sandwich',
      format: 'neutral',
      rollingWindow: null,
    },
    { deadlineMs: BUILD_MS_MAX, onBusy: 'fail' },
  )
  const text = textOfContext(context)
  return compactionReply({
    id: newId().replaceAll('-', ''),
    atSeconds: Math.floor(deps.clock.nowMs() / 1_000),
    thread: conversation.thread,
    text,
    said: saidIn(found),
    inputTokens: tokensOf(found.request),
    outputTokens: Math.ceil(text.length / CHARACTERS_PER_TOKEN),
  })
}

/** The messages of the user, without the histories of earlier compactions. */
function saidIn({ request, body }: Understood) {
  return request.entries
    .filter(({ kind }) => kind === 'user')
    .map(({ index }) => readEntryAt(request, body, index).value)
    .filter((value) => !JSON.stringify(value['content'] ?? '').includes(COMPACTED))
}

function tokensOf({ head, entries }: ProviderRequest): number {
  return entries.reduce((sum, { tokens }) => sum + tokens, head.tokens)
}

class Refused extends Error {
  override readonly name = 'Refused'
  readonly answer: ProxyError

  constructor(status: number, code: string, message: string) {
    super(message)
    this.answer = { status, code, message }
  }
}

/** The caller may send the request again. */
function failureOf(error: unknown): ProxyError {
  const message = 'Heddle could not compact the conversation; it is unchanged.'
  const isPermanent = error instanceof HeddleError && error.disposition !== 'retry'
  return { status: isPermanent ? 500 : 503, code: 'compaction_failed', message }
}
