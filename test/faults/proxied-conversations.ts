import { once } from 'node:events'
import { type Agent, type IncomingMessage, request } from 'node:http'
import { anthropicRequestFaults } from '@heddle/test-support/providers/anthropic-rules'
import { type LocalServer, startLocalServer } from '@heddle/test-support/servers/local-server'

type Block = Readonly<Record<string, unknown>>
interface Message {
  readonly role: string
  readonly content: string | readonly Block[]
}

const STUB = /\[\d+ of \d+ lines left out by Heddle/
const RESULT_LINES = 100

/** One of many conversations of agents: each request adds a call and its large result. */
export class ProxiedConversation {
  readonly #messages: Message[]

  constructor(readonly name: string) {
    this.#messages = [{ role: 'user', content: `Read the pages of ${name}.` }]
  }

  get messages(): number {
    return this.#messages.length
  }

  next(): string {
    const step = this.#messages.length
    const id = `toolu_${this.name}_${step}`
    const page = Array.from({ length: RESULT_LINES }, (_, line) => `${this.name}, page ${step}, line ${line}`).join(
      '\n',
    )
    this.#messages.push({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'read_page', input: { step } }] })
    this.#messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: page }] })
    return JSON.stringify({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      tools: [{ name: 'read_page', input_schema: { type: 'object' } }],
      messages: this.#messages,
    })
  }
}

/** Differences of a sent body that no mode of the proxy explains: only results become stubs, and all else stays. */
export function wrongIn(original: string, sent: string): string[] {
  const faults = anthropicRequestFaults(JSON.parse(sent))
  const [before, after] = [original, sent].map((body) => JSON.parse(body) as { messages: Message[] }) as [
    { messages: Message[] },
    { messages: Message[] },
  ]
  const same = { ...after, messages: after.messages.map((message, index) => restored(message, before.messages[index])) }
  return JSON.stringify(same) === JSON.stringify(before)
    ? faults
    : [...faults, 'something else than a result was changed']
}

function restored(message: Message, original: Message | undefined): Message {
  if (!Array.isArray(message.content)) return message
  const content = message.content.map((block: Block, index) => {
    const isStub = block['type'] === 'tool_result' && STUB.test(String(block['content']))
    const before = (original?.content as readonly Block[] | undefined)?.[index]
    return isStub ? { ...block, content: before?.['content'] } : block
  })
  return { ...message, content }
}

/** Answers every request with its own body as the text of the reply, and the moment in which it arrived. */
export function startEchoingProvider(): Promise<LocalServer> {
  return startLocalServer(async (incoming, response) => {
    const arrivedMs = performance.now()
    const body = await textOf(incoming)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ type: 'message', role: 'assistant', content: [{ type: 'text', text: body }], arrivedMs }),
    )
  })
}

export interface EchoedRequest {
  readonly status: number
  /** The body that the provider received. */
  readonly sent: string
  /** Milliseconds until the provider got it. */
  readonly tookMs: number
  readonly mode: string
}

/** @throws Error if there is no whole answer */
export async function sendThrough(
  agent: Agent,
  url: string,
  conversation: string,
  body: string,
): Promise<EchoedRequest> {
  const startedMs = performance.now()
  const headers = { 'content-type': 'application/json', 'x-heddle-mode': 'stub', 'x-heddle-thread': conversation }
  const sending = request(`${url}/anthropic/v1/messages`, { method: 'POST', agent, headers })
  sending.end(body)
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  const { content, arrivedMs } = JSON.parse(await textOf(answer)) as { content: { text: string }[]; arrivedMs: number }
  const { statusCode = 0 } = answer
  return {
    status: statusCode,
    sent: content[0]?.text ?? '',
    tookMs: arrivedMs - startedMs,
    mode: String(answer.headers['x-heddle-mode']),
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
