import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { compileAndRun } from './journeys.js'
import { Project } from './project.js'
import { startUp } from './running.js'

export interface FirstReceipt {
  /** From an empty folder to the receipt; a minute on a machine that does nothing else. */
  readonly seconds: number
  /** When the package was installed, and when Heddle was ready, on the same clock. */
  readonly installed: number
  readonly ready: number
  readonly costUsd: number
  readonly text: unknown
}

interface Stats {
  readonly items: readonly { readonly mode: string; readonly priced: number; readonly costUsd: number }[]
}

const RECEIPT_MS_MAX = 60_000
const POLL_MS = 100
const ANTHROPIC_PACKAGE = '@anthropic-ai/sdk@1.12.0'

/**
 * The first minute of a new user who has an agent: `npm install @heddle/cli` in an empty folder and with an empty cache of npm,
 * `npx heddle up`, the agent at another address, and `npx heddle proxy stats`.
 */
export async function measureFirstReceipt(
  work: string,
  env: NodeJS.ProcessEnv,
  registry: string,
): Promise<FirstReceipt> {
  // The agent and its package are there before Heddle is.
  const agent = await Project.make(join(work, 'proxied-agent'), env, registry)
  await agent.install(ANTHROPIC_PACKAGE)
  const cache = join(work, 'npm-cache')
  await mkdir(cache)
  const provider = await startProtocolServer(() => ({ kind: 'text', text: 'The token has expired.' }))
  try {
    const startedMs = performance.now()
    const seconds = () => Math.round((performance.now() - startedMs) / 100) / 10
    const heddle = await Project.make(join(work, 'first-minute'), { ...env, npm_config_cache: cache }, registry)
    await heddle.install('@heddle/cli')
    const installed = seconds()
    await using up = await startUp(heddle, { HEDDLE_PROXY_ANTHROPIC_URL: provider.anthropicUrl })
    const ready = seconds()
    const address = { ANTHROPIC_BASE_URL: `${up.url}/anthropic`, ANTHROPIC_API_KEY: 'sk-ant' }
    const { text } = await compileAndRun(agent, 'proxied-agent', { env: address, checksDeclarations: false })
    const costUsd = await firstCost(heddle)
    return { seconds: seconds(), installed, ready, costUsd, text }
  } finally {
    await provider.close()
  }
}

/** Messages and figures are stored after the reply. */
async function firstCost(heddle: Project): Promise<number> {
  const endMs = performance.now() + RECEIPT_MS_MAX
  for (;;) {
    const { items } = JSON.parse(await heddle.npx(['heddle', 'proxy', 'stats', '--json'])) as Stats
    const [sums] = items
    if (sums?.priced === 1) return sums.costUsd
    if (performance.now() > endMs) throw new Error(`no request has a cost: ${JSON.stringify(items)}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
