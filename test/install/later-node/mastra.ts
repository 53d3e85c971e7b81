import assert from 'node:assert/strict'
import { createClient } from '@heddle/client/http'
import { type ProtocolRequest, type Responder, startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { openTcpProxy } from '@heddle/test-support/servers/tcp-proxy'
import { orphansInChat, replyTo } from '../../pipeline/adapters/loops/loop-script.js'
import { compileAndRun, compileProgram, programPath } from '../journeys.js'
import type { Project } from '../project.js'
import { installByReadme, runByReadme } from '../readme.js'
import { type LaterNode, laterProject } from './later-node.js'
import { runLoop, startProgram } from './loops.js'

const README_PACKAGES = { '@mastra/core': '1.71.0', zod: '4.6.7' }
/** For the memory of Mastra, beside those of the README. */
const PACKAGES = ['@mastra/memory@1.31.0', '@mastra/libsql@1.23.1']
const REPLY = 'The token has expired.'
/** Calls of a tool in each run, before its text. */
const CALLS = 12
/** Of 4,000 tokens, with the tools' results as they are written in JSON. */
const CHARACTERS_MAX = 24_000
/** Mastra's default, messages of about as many tokens as the budget, all of a loop, and its observations. */
const MEMORIES = ['10', '30', '10000', 'observational']
/** Of one call of the processor while Heddle is away; the slowest may meet a busy machine. */
const AWAY_MS_MAX = 100

/** Installs the adapter beside Mastra, and runs the program of its README, agents with tools, a long loop, and an outage. */
export async function runMastra(later: LaterNode) {
  const project = await laterProject('mastra', later)
  const installed = await installByReadme(project, 'mastra', README_PACKAGES)
  const readme = await runReadme(project, later.heddleUrl)
  await project.install('@heddle/client', ...PACKAGES)
  const agents = await runAgents(project, later.heddleUrl)
  const loop = await runLoop(project, {
    name: 'mastra',
    program: programPath('later-node/mastra-loop'),
    url: later.heddleUrl,
    memories: MEMORIES,
    respond: replyToMastra,
  })
  return { installed, readme, ...agents, loop: loop.withHeddle, outage: await runOutage(project, later.heddleUrl) }
}

async function runReadme(project: Project, heddleUrl: string) {
  const provider = await startProtocolServer(() => ({ kind: 'text', text: REPLY }))
  try {
    const env = { HEDDLE_URL: heddleUrl, OPENAI_BASE_URL: provider.openAiUrl }
    const printed = await runByReadme(project, 'mastra', { env, folder: 'later-node' })
    assert.deepEqual(printed, { text: REPLY })
    return printed
  } finally {
    await provider.close()
  }
}

async function runAgents(project: Project, heddleUrl: string) {
  const provider = await startProtocolServer(({ number }) => {
    const step = (number - 1) % (CALLS + 1)
    if (step === CALLS) return { kind: 'text', text: `Reply ${number}` }
    return { kind: 'call', id: `call_${number}`, name: 'look', input: { at: number } }
  })
  try {
    const env = { HEDDLE_URL: heddleUrl, OPENAI_BASE_URL: provider.openAiUrl }
    const options = { folder: 'later-node', env, checksDeclarations: false }
    assertThreads(await compileAndRun(project, 'mastra-agent', options))
    const { requests } = provider
    const largest = Math.max(...requests.map(charactersOf))
    assert.ok(largest < CHARACTERS_MAX, `a request has ${largest} characters`)
    return { requests: requests.length, largestCharacters: largest }
  } finally {
    await provider.close()
  }
}

const TURNS = /turns? (\d+)(?: to (\d+))?/gi

/** The model of the agent, and the one that Mastra's memory has: a line for each turn, and one for all that it reflects on. */
const replyToMastra: Responder = (request) => {
  if (request.model !== 'observer') return replyTo(request)
  const asked = JSON.stringify(request.messages?.at(-1) ?? '')
  const turns = [
    ...new Set([...asked.matchAll(TURNS)].flatMap(([, first, last]) => [Number(first), Number(last ?? first)])),
  ]
  const lines = asked.includes('OBSERVATIONS TO REFLECT ON')
    ? [
        `* The user asked for turns ${Math.min(...turns)} to ${Math.max(...turns)}, and the agent looked at their lines.`,
      ]
    : turns.map((turn) => `* The user asked for turn ${turn}, and the agent looked at its line.`)
  return { kind: 'text', text: `<observations>\n${lines.join('\n')}\n</observations>` }
}

interface Phase {
  readonly turn: number
  readonly calls: number
  readonly medianMs: number
  readonly slowestMs: number
  readonly aways: number
}

/** Heddle is away for ten turns: the agent goes on, says so once, and what was said is stored afterwards. */
async function runOutage(project: Project, heddleUrl: string) {
  const program = programPath('later-node/mastra-outage')
  await compileProgram(project, [program], { checksDeclarations: false })
  const provider = await startProtocolServer(replyTo)
  const proxy = await openTcpProxy(heddleUrl)
  const thread = 'mastra-outage'
  const env = { HEDDLE_URL: proxy.url, PROVIDER_URL: provider.openAiUrl, THREAD: thread }
  const started = startProgram(project, program, env)
  try {
    const phase = async (turns: number, last: number): Promise<Phase> => {
      started.tell(`${turns}`)
      const [line] = await started.line(new RegExp(`^\\{"turn":${last},.*$`), 60_000)
      return JSON.parse(line) as Phase
    }
    await phase(5, 5)
    await proxy.stop()
    const away = await phase(10, 15)
    await proxy.start()
    await phase(5, 20)
    assert.equal(away.aways, 1)
    assert.ok(away.medianMs < AWAY_MS_MAX, JSON.stringify(away))
    const { items } = await createClient({ url: heddleUrl }).messages.list({ thread, limit: 500, order: 'asc' })
    const turns = Array.from({ length: 20 }, (_, index) => index + 1)
    const said = turns.flatMap((turn) => [
      ['user', `Turn ${turn}`],
      ['assistant', ''],
      ['tool_result', `Seen in turn ${turn}.`],
      ['assistant', 'Noted.'],
    ])
    assert.deepEqual(
      items.map(({ role, content }) => [role, content]),
      said,
    )
    return away
  } finally {
    started.kill('SIGKILL')
    await started.exited
    await proxy.stop()
    await provider.close()
  }
}

/** Three runs in each thread, each message once, and every reply with its model, context, and the usage that its provider sent. */
function assertThreads(threads: Readonly<Record<string, unknown>>): void {
  const calls = Array.from({ length: CALLS }, () => ['assistant', 'tool_result']).flat()
  const run = ['user', ...calls, 'assistant']
  const replies = 3 * (CALLS + 1)
  const roles = [...run, ...run, ...run]
  // The calls that the provider streams are without usage.
  const expected = { roles, usages: replies - CALLS, contexts: replies, models: ['model'] }
  assert.deepEqual(threads, { 'with-memory': expected, alone: expected })
}

/** @returns the characters of a request whose calls and results belong together */
function charactersOf({ messages = [] }: ProtocolRequest): number {
  assert.deepEqual(orphansInChat(messages), [])
  return JSON.stringify(messages).length
}
