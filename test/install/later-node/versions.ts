import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { command } from '../command.js'
import { compileAndRun } from '../journeys.js'
import type { Installed, Project } from '../project.js'
import { type LaterNode, laterProject } from './later-node.js'
import { loopProgram, runLoop } from './loops.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const TESTS_MS_MAX = 600_000
const REPLY = 'The token has expired.'

interface TestedVersion {
  /** Of the results. */
  readonly name: string
  /** Of the adapter, the program in its README, and its tests. */
  readonly adapter: string
  readonly packages: readonly string[]
  readonly loop: string
  /** The output of the program in the README. */
  readonly prints: Readonly<Record<string, unknown>>
  /** The framework's own way to remember. */
  readonly memory: string
}

/** Versions of frameworks that are not those of this repository; most want a later Node than the oldest one of Heddle. */
const VERSIONS: readonly TestedVersion[] = [
  {
    name: 'ai-sdk-6',
    adapter: 'ai-sdk',
    packages: ['ai@6.0.326', '@ai-sdk/openai-compatible@2.0.92'],
    loop: 'ai-sdk-loop-process',
    prints: { text: REPLY },
    memory: 'all messages',
  },
  {
    name: 'ai-sdk-7',
    adapter: 'ai-sdk',
    packages: ['ai@7.0.173', '@ai-sdk/openai-compatible@3.0.92'],
    loop: 'ai-sdk-loop-process',
    prints: { text: REPLY },
    memory: 'all messages',
  },
  {
    name: 'openai-agents-0.20',
    adapter: 'openai-agents',
    packages: ['@openai/agents@0.20.0'],
    loop: 'agents-loop-process',
    prints: { text: REPLY, items: 2 },
    memory: 'MemorySession',
  },
]

/** For each version the program of the README, a long loop whose process is killed, and the tests of the adapter. */
export async function runVersions(later: LaterNode) {
  const results: Record<string, unknown> = {}
  for (const version of VERSIONS) results[version.name] = await runVersion(version, later)
  return results
}

async function runVersion({ name, adapter, packages, loop, prints, memory }: TestedVersion, later: LaterNode) {
  const project = await laterProject(name, later)
  const installed: Installed = await project.install(`@heddle/${adapter}`, ...packages, 'zod@4.6.7')
  const provider = await startProtocolServer(() => ({ kind: 'text', text: REPLY }))
  try {
    const env = { HEDDLE_URL: later.heddleUrl, OPENAI_BASE_URL: provider.openAiUrl }
    assert.deepEqual(await compileAndRun(project, adapter, { env, checksDeclarations: false }), prints)
  } finally {
    await provider.close()
  }
  const { withHeddle } = await runLoop(project, {
    name,
    program: loopProgram(loop),
    url: later.heddleUrl,
    memories: [memory],
  })
  return { installed, loop: withHeddle, tests: await runTests(project, adapter) }
}

interface TestReport {
  readonly numPassedTests: number
  readonly numTotalTests: number
}

/** The tests of the adapter in this repository, with the packages of the project in place of the repository's. */
async function runTests({ node, folder, env }: Project, adapter: string) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'pipeline', '--reporter', 'json']
  const { stdout } = await command([node, ...vitest, `test/pipeline/adapters/${adapter}`], {
    cwd: root,
    env: { ...env, HEDDLE_TEST_PACKAGES: folder },
    timeoutMs: TESTS_MS_MAX,
  })
  const { numPassedTests: passed, numTotalTests: total } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as TestReport
  assert.ok(passed === total && total > 0, `${passed} of ${total} tests passed`)
  return { passed }
}
