import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { command } from './command.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Agent {
  readonly plugin: string
  readonly package: string
  /** The command of the agent in the README of the plugin. */
  readonly name: string
}

/** OpenCode loads its plugin from a path, without a command. */
const AGENTS: readonly Agent[] = [
  { plugin: 'claude-code', package: '@anthropic-ai/claude-code@2.1.332', name: 'claude' },
  { plugin: 'codex', package: '@openai/codex@0.171.0', name: 'codex' },
]

/** Installs each plugin in its agent, beside a checkout, by the commands of its README. @returns the agents that have it */
export async function installPlugins(work: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const folder = join(work, 'agents')
  const home = join(folder, 'home')
  await mkdir(home, { recursive: true })
  await command(['git', 'clone', '--quiet', '--depth', '1', `file://${root}`, 'heddle'], { cwd: folder, env })
  const packages = AGENTS.map((agent) => agent.package)
  await command(['npm', 'install', '--no-audit', '--no-fund', '--prefix', '.', ...packages], { cwd: folder, env })
  const path = `${join(folder, 'node_modules/.bin')}:${env['PATH']}`
  const run = (line: string) => command(line.split(' '), { cwd: folder, env: { ...env, HOME: home, PATH: path } })
  for (const { plugin, name } of AGENTS) {
    const commands = await readmeCommands(plugin, name)
    assert.equal(commands.length, 2, `the README of ${plugin} has ${commands.length} commands`)
    for (const line of commands) await run(line)
    const { stdout } = await run(`${name} plugin list`)
    assert.ok(stdout.includes('heddle@heddle'), stdout)
  }
  return packages
}

async function readmeCommands(plugin: string, name: string): Promise<string[]> {
  const readme = await readFile(join(root, `plugins/${plugin}/README.md`), 'utf8')
  const [, block = ''] = /```sh\n([^`]*)```/.exec(readme) ?? []
  const lines = block.split('\n').map((line) => line.split(' #')[0]?.trim() ?? '')
  return lines.filter((line) => line.startsWith(`${name} `))
}
