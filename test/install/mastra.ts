import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { type ProtocolRequest, startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { command } from './command.js'
import { compileAndRun } from './journeys.js'
import { Project } from './project.js'

/** The Node that `@mastra/core` is tried on: it wants a later one than the oldest of Heddle. */
const NODE_VERSION = '24.21.0'
const PACKAGES = ['@mastra/core@1.71.0', 'zod@4.6.7']
/** Calls of a tool in each run, before its text. */
const CALLS = 12
/** Of 4,000 tokens, with the tools' results as they are written in JSON. */
const CHARACTERS_MAX = 24_000

export interface MastraOptions {
  readonly work: string
  readonly env: NodeJS.ProcessEnv
  readonly registryUrl: string
  readonly heddleUrl: string
}

/** Node of the version above, from npm; null if it cannot be fetched. */
export async function findLaterNode(work: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const fetched = ['npx', '--yes', '--ignore-scripts=false', `--package=node@${NODE_VERSION}`]
  try {
    const { stdout } = await command([...fetched, 'node', '-p', 'process.execPath'], { cwd: work, env })
    return stdout.trim()
  } catch {
    return null
  }
}

/** Installs the adapter beside Mastra under a later Node, and runs the program of its README and agents with tools. */
export async function runMastra(node: string, { work, env, registryUrl, heddleUrl }: MastraOptions) {
  const path = `${dirname(node)}:${env['PATH']}`
  const project = await Project.make(join(work, 'mastra'), { ...env, PATH: path }, registryUrl, {
    node,
    nodeOldest: NODE_VERSION,
  })
  const installed = await project.install('@heddle/mastra', '@heddle/client', ...PACKAGES)
  const provider = await startProtocolServer()
  try {
    const address = { HEDDLE_URL: heddleUrl, OPENAI_BASE_URL: provider.openAiUrl }
    const run = (program: string) =>
      compileAndRun(project, program, { folder: 'later-node', env: address, checksDeclarations: false })
    provider.respond(() => ({ kind: 'text', text: 'The token has expired.' }))
    const readme = await run('mastra')
    assert.deepEqual(readme, { text: 'The token has expired.' })

    const before = provider.requests.length
    provider.respond(({ number }) => {
      const step = (number - before - 1) % (CALLS + 1)
      if (step === CALLS) return { kind: 'text', text: `Reply ${number}` }
      return { kind: 'call', id: `call_${number}`, name: 'look', input: { at: number } }
    })
    const threads = await run('mastra-agent')
    assertThreads(threads)
    const requests = provider.requests.slice(before)
    const characters = requests.map(assertRequest)
    const largest = Math.max(...characters)
    assert.ok(largest < CHARACTERS_MAX, `a request has ${largest} characters`)
    return { installed, readme, requests: requests.length, largestCharacters: largest }
  } finally {
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

interface ChatMessage {
  readonly role: string
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

/** @returns the characters of a request whose calls and results belong together */
function assertRequest({ messages = [] }: ProtocolRequest): number {
  const open = new Set<string>()
  for (const { role, tool_calls: calls = [], tool_call_id: answered = '' } of messages as readonly ChatMessage[]) {
    if (role === 'tool') assert.ok(open.delete(answered), `a result without its call: ${answered}`)
    for (const { id } of calls) open.add(id)
  }
  assert.deepEqual([...open], [], 'calls without results')
  return JSON.stringify(messages).length
}
