import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { command } from './command.js'
import { OPENCODE_PACKAGE, runOpenCode } from './opencode.js'
import { Project } from './project.js'
import { readmeCommands } from './readme.js'
import { startUp } from './running.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Of the gateway in all READMEs. */
const PORT = 4680
const START = ['npm install @heddle/cli', 'npx heddle up']

interface Agent {
  readonly plugin: string
  readonly package: string
  /** The command of the agent in the README of the plugin. */
  readonly name: string
}

const AGENTS: readonly Agent[] = [
  { plugin: 'claude-code', package: '@anthropic-ai/claude-code@2.1.332', name: 'claude' },
  { plugin: 'codex', package: '@openai/codex@0.171.0', name: 'codex' },
]

export interface PluginsOptions {
  readonly work: string
  readonly env: NodeJS.ProcessEnv
  readonly registryUrl: string
  /** Called where a README had to be changed. */
  readonly say: (text: string) => void
}

/**
 * Runs the READMEs of the plugins in an empty folder with a checkout: Heddle by their first line, then the commands that install
 * each plugin in its agent, and OpenCode with its plugin.
 */
export async function runPlugins({ work, env: given, registryUrl, say }: PluginsOptions) {
  const folder = join(work, 'agents')
  const home = join(folder, 'home')
  const env = { ...given, HOME: home, PATH: `${join(folder, 'node_modules/.bin')}:${given['PATH']}` }
  const project = await Project.make(folder, env, registryUrl)
  await mkdir(home)
  const run = async (line: string) => (await command(line.split(' '), { cwd: folder, env })).stdout
  await run(`git clone --quiet --depth 1 file://${root} heddle`)
  const packages = [...AGENTS.map((agent) => agent.package), OPENCODE_PACKAGE]
  await run(`npm install --no-audit --no-fund ${packages.join(' ')}`)
  const [install = '', up = ''] = START
  await run(install)
  const isFree = await isPortFree(PORT)
  if (!isFree) say(`SKIPPED: the port ${PORT} of the READMEs is in use, so Heddle has another one`)
  await using heddle = await startUp(project, isFree ? {} : { HEDDLE_PORT: '0' }, up.split(' '))
  for (const { plugin, name } of AGENTS) {
    const commands = await readmeCommands(`plugins/${plugin}`)
    assert.deepEqual([commands.length, ...commands.slice(0, 2)], [4, ...START])
    for (const line of commands.slice(2)) await run(line)
    const listed = await run(`${name} plugin list`)
    assert.ok(listed.includes('heddle@heddle'), listed)
  }
  assert.deepEqual(await readmeCommands('plugins/opencode'), START)
  return { packages, opencode: await runOpenCode({ folder, env, heddleUrl: heddle.url, readmePort: PORT }) }
}

async function isPortFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
