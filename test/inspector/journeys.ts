import type { NewMessage } from '@heddle/client/interface'
import { vi } from 'vitest'
import { startProtocolServer } from '../support/src/servers/protocol-server.js'
import type { RecordedThread } from './recorded-thread.js'

/** A thread whose agent does not know a port that was named. */
export const STAGING = 'deploy-staging'
/** An agent with the default budget, which is large. */
const SHOP = 'shop'
/** A thread in which the port is older than the rolling window. */
export const TICKETS = 'tickets'

const STEPS = 30
const FIRST_MS = Date.UTC(2026, 10, 26, 9)
const BUDGET = 6_000

type Appended = NewMessage

/** Facts about a system, with the port in the middle of them. */
const FACTS = [
  'Here is what I know of staging.',
  ...Array.from(
    { length: 10 },
    (_, n) => `The service shop-${n} runs on staging-${n}.shop.internal with ${n + 2} replicas.`,
  ),
  'The database listens on 8432 there.',
  ...Array.from(
    { length: 10 },
    (_, n) => `The queue jobs-${n} holds ${n * 110} jobs, and its dead letters go to dlq-${n}.`,
  ),
].join('\n')

const outputs = {
  Bash: (step: number, line: number) =>
    `09:${line % 60}:11 shop-${step} request ${step * 1_000 + line} took ${line} ms`,
  Grep: (step: number, line: number) => `src/service-${line}.ts:${line * 7}: handler_${step}(request)`,
  Read: (step: number, line: number) => `${line}\texport function step${step}_${line}() { return ${line} }`,
}

function stepOf(step: number): Appended[] {
  const tool = step % 4 === 3 ? 'Bash' : step % 4 === 2 ? 'Grep' : 'Read'
  const lines = { Bash: 110, Grep: 20, Read: 50 }[tool]
  const request = `Step ${step}: check part-${step}/module-${step * 17}.ts, and never restart worker-${step} by hand.`
  return [
    { role: 'user', content: request },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: `call-${step}`, name: tool, arguments: { target: `part-${step}` } }],
    },
    {
      ...{ role: 'tool_result', toolCallId: `call-${step}`, toolName: tool },
      content: Array.from({ length: lines }, (_, line) => outputs[tool](step, line)).join('\n'),
    },
  ]
}

/**
 * A thread whose contexts are requested with a budget of their own, as the first example of the documentation does, and no
 * longer have a port that was said once.
 *
 * @returns the context for which the agent asked for the port
 */
export async function forgetPort({ client }: RecordedThread): Promise<string> {
  const messages: Appended[] = [
    { role: 'user', content: 'We deploy the shop to staging today.' },
    { role: 'assistant', content: 'I begin with the health checks.' },
  ]
  for (let step = 0; step < STEPS; step++) {
    if (step === 8) messages.push({ role: 'user', content: FACTS }, { role: 'assistant', content: 'Noted.' })
    messages.push(...stepOf(step))
  }
  const timed = messages.map((message, index) => ({
    ...message,
    sentAt: new Date(FIRST_MS + index * 30_000).toISOString(),
  }))
  await client.messages.append({ agent: SHOP, newAgentRollingWindow: null, thread: STAGING, messages: timed })
  const request = { thread: STAGING, budget: BUDGET, format: 'anthropic' } as const
  await client.contexts.build(request)
  await vi.waitFor(
    async () => {
      const { items } = await client.summaries.list({ thread: STAGING })
      if (items.length === 0) throw new Error('the thread has no summary yet')
    },
    { timeout: 60_000, interval: 200 },
  )
  const message = 'Run the migrations against the database of staging.'
  const { id } = await client.contexts.build({ ...request, message })
  await client.messages.append({
    ...{ agent: SHOP, thread: STAGING, contextId: id },
    messages: [
      { role: 'user', content: message },
      { role: 'assistant', content: 'On which port does the database of staging listen?' },
    ],
  })
  return id
}

/** A thread of an agent with the default window, in which a port was named days ago. */
export async function outgrowWindow({ client }: RecordedThread): Promise<void> {
  const agent = 'support'
  const old = {
    role: 'user' as const,
    content: 'The test server answers on port 9911.',
    sentAt: '2026-01-05T09:00:00.000Z',
  }
  await client.messages.append({ agent, thread: TICKETS, messages: [old] })
  await client.messages.append({
    agent,
    thread: TICKETS,
    messages: [{ role: 'user', content: 'Call the test server.' }],
  })
  await client.contexts.build({ thread: TICKETS, budget: 4_000 })
}

export interface EmbeddingService {
  /** The variables under which `heddle up` embeds with it. */
  readonly environment: Readonly<Record<string, string>>
  /** From then on it refuses the key, or takes it again. */
  refuse(isRefused: boolean): void
  close(): Promise<void>
}

const DIMENSIONS = 8

/** A service of embeddings that can begin to refuse its key. */
export async function startEmbeddingService(): Promise<EmbeddingService> {
  let isRefused = false
  const server = await startProtocolServer(({ texts }) =>
    isRefused
      ? { kind: 'status', status: 401 }
      : {
          kind: 'vectors',
          vectors: texts.map((text) => Array.from({ length: DIMENSIONS }, (_, n) => text.length % (n + 2))),
        },
  )
  return {
    environment: {
      HEDDLE_EMBEDDER: 'openai',
      HEDDLE_EMBEDDING_BASE_URL: server.openAiUrl,
      HEDDLE_EMBEDDING_DIMENSIONS: String(DIMENSIONS),
      OPENAI_API_KEY: 'sk-test',
      HEDDLE_SUMMARIZATION_PROVIDER: 'extractive',
    },
    refuse: (next) => {
      isRefused = next
    },
    close: () => server.close(),
  }
}
