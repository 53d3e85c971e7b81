import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { createClient, type RemoteClient } from '@heddle/client/http'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer } from '../../../docs/examples/ai-sdk-app.js'
import { turn as anthropicTurn } from '../../../docs/examples/anthropic-agent.js'
import { runGraph, writerAndCritic } from '../../../docs/examples/graph-agent.js'
import { turn as openAiTurn } from '../../../docs/examples/openai-agent.js'
import { replayLog } from '../../../docs/examples/replay-log.js'
import { delegate } from '../../../docs/examples/sub-agent.js'
import { type ProtocolServer, startProtocolServer } from '../../support/src/servers/protocol-server.js'
import { openHome } from '../cli/cli-support.js'
import { type Served, serve } from '../doors/http-support.js'
import { openPipeline, type Pipeline } from '../support.js'

const PRODUCER = fileURLToPath(new URL('../../../docs/examples/producer.py', import.meta.url))
const CALL = { id: 'call-1', name: 'read_tide', input: { harbour: 'Hull' } }

let pipeline: Pipeline
let http: Served
let provider: ProtocolServer
let heddle: RemoteClient

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
  http = await serve(pipeline)
  heddle = createClient({ url: http.url })
  provider = await startProtocolServer()
})
afterAll(async () => {
  await provider?.close()
  await http?.gateway.close()
  await pipeline?.close()
})

/** First a tool call, then an answer. */
function respondInTwoSteps(): void {
  const before = provider.requests.length
  provider.respond(({ number }) =>
    number === before + 1 ? { kind: 'call', ...CALL } : { kind: 'text', text: 'High water is at four.' },
  )
}

const historyOf = async (thread: string) =>
  (await heddle.messages.list({ thread, order: 'asc' })).items.map(({ role, content }) => [role, content])

const twoSteps = [
  ['user', 'When is high water?'],
  ['assistant', ''],
  ['tool_result', 'the tide of Hull'],
  ['assistant', 'High water is at four.'],
]
const question = { thread: '', text: 'When is high water?' }

test('the agent on OpenAI calls its tool, answers, and stores its whole turn in the thread', async () => {
  respondInTwoSteps()
  const openai = new OpenAI({ baseURL: provider.openAiUrl, apiKey: 'none', maxRetries: 0 })
  const tools = {
    read_tide: {
      definition: {
        type: 'function' as const,
        function: { name: 'read_tide', parameters: { type: 'object', properties: { harbour: { type: 'string' } } } },
      },
      run: async ({ harbour }: Record<string, unknown>) => `the tide of ${harbour}`,
    },
  }
  const agent = { heddle, openai, model: 'gpt-test', agent: 'pilot', tools }
  expect(await openAiTurn(agent, { ...question, thread: 'openai' })).toBe('High water is at four.')
  expect(await historyOf('openai')).toEqual(twoSteps)
  expect(provider.requests.at(-1)).toMatchObject({ protocol: 'openai', user: 'When is high water?' })
})

test('the agent on Anthropic calls its tool, answers, and stores its whole turn in the thread', async () => {
  respondInTwoSteps()
  const anthropic = new Anthropic({ baseURL: provider.anthropicUrl, apiKey: 'none', maxRetries: 0 })
  const agent = {
    heddle,
    anthropic,
    model: 'claude-test',
    agent: 'pilot',
    tools: [{ name: 'read_tide', input_schema: { type: 'object' as const } }],
    runTool: async (_: string, input: unknown) => `the tide of ${(input as { harbour: string }).harbour}`,
  }
  expect(await anthropicTurn(agent, { ...question, thread: 'anthropic' })).toBe('High water is at four.')
  expect(await historyOf('anthropic')).toEqual(twoSteps)
  expect(provider.requests.at(-1)).toMatchObject({ protocol: 'anthropic' })
})

test('the app on the AI SDK streams its answer, and stores it once it is complete', async () => {
  provider.respond(() => ({ kind: 'text', text: 'The fog lifts at ten, and the ferry sails at eleven.' }))
  const model = createOpenAICompatible({ name: 'local', baseURL: provider.openAiUrl })('any-model')
  const pieces: string[] = []
  for await (const piece of answer({ heddle, model, agent: 'pilot' }, { thread: 'ai-sdk', text: 'And the fog?' })) {
    pieces.push(piece)
  }
  expect(pieces.length).toBeGreaterThan(1)
  expect(await historyOf('ai-sdk')).toEqual([
    ['user', 'And the fog?'],
    ['assistant', pieces.join('')],
  ])
})

test('the graph alternates between writer and critic until the critic approves', async () => {
  let reviews = 0
  const seen: string[] = []
  const nodes = writerAndCritic(heddle, async (prompt) => {
    const text = JSON.stringify(prompt)
    seen.push(text)
    if (text.includes('Write the next')) return `draft ${reviews + 1}`
    reviews += 1
    return reviews === 2 ? 'APPROVED' : 'too short'
  })
  await heddle.messages.append({ agent: 'team', thread: 'graph', messages: [{ role: 'user', content: 'A haiku.' }] })
  const end = await runGraph(nodes, { thread: 'graph', next: 'write', steps: 0 })
  expect(end).toEqual({ thread: 'graph', next: 'end', steps: 4 })
  expect(seen.at(-1)).toContain('draft 2')
  expect((await historyOf('graph')).map(([, content]) => content)).toEqual([
    'A haiku.',
    'draft 1',
    'too short',
    'draft 2',
    'APPROVED',
  ])
})

test('a sub-agent gets only what its task is about, and returns its answer', async () => {
  const say = (thread: string, content: string) =>
    heddle.messages.append({ agent: 'lead', thread, messages: [{ role: 'user', content }] })
  await say('lead-main', 'It is slow.')
  await say('lead-notes', 'The index is missing.')
  await say('lead-private', 'A secret.')
  const task = { thread: 'lead-main', reads: ['lead-main', 'lead-notes'], text: 'Find out why.' }
  const prompts: string[] = []
  const ask = async (messages: unknown) => {
    prompts.push(JSON.stringify(messages))
    return 'Add the index.'
  }
  expect(await delegate(heddle, ask, task)).toBe('Add the index.')
  expect(prompts[0]).toContain('The index is missing.')
  expect(prompts[0]).not.toContain('secret')
  expect((await historyOf('lead-main')).at(-1)).toEqual(['user', 'The sub-agent reports:\nAdd the index.'])
})

test('a log is replayed into its sessions, and a second time without storing anything twice', async () => {
  const home = await openHome()
  const lines = Array.from({ length: 250 }, (_, index) =>
    JSON.stringify({
      at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
      session: `log-${index % 2}`,
      role: index % 4 < 2 ? 'user' : 'assistant',
      text: `line ${index}`,
    }),
  )
  await writeFile(home.path('chat.log'), `${lines.join('\n')}\n`)
  const replay = { path: home.path('chat.log'), agent: 'replayer' }
  expect(await replayLog(heddle, replay)).toBe(250)
  expect(await replayLog(heddle, replay)).toBe(0)
  const first = (await historyOf('log-1')).slice(0, 3).map(([, content]) => content)
  expect(first).toEqual(['line 1', 'line 3', 'line 5'])
})

test('a producer in Python stores its lines over plain HTTP, and reports refused ones', async (context) => {
  const run = (thread: string, text: string) =>
    new Promise<{ code: number | null; output: string }>((resolve, reject) => {
      const child = spawn('python3', [PRODUCER, 'shipper', thread], {
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], HEDDLE_URL: http.url },
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
      child.once('error', reject).once('close', (code) => resolve({ code, output }))
      child.stdin.end(text)
    })
  const ran = await run('python', 'first line\n\nsecond line\n').catch((error) => error)
  if (ran.code === 'ENOENT') return context.skip('no python3 here')
  expect(ran).toEqual({ code: 0, output: '{"stored": 2}\n' })
  expect(await historyOf('python')).toEqual([
    ['user', 'first line'],
    ['user', 'second line'],
  ])
  const refused = await run('x'.repeat(2_000), 'a line\n')
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('VALIDATION_ERROR: ') })
})
