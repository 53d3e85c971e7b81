import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { HookEvent } from './hook-events.js'
import { type HookHandler, hooksFileSchema } from './hook-schemas.js'

export const pluginFolder = fileURLToPath(new URL('../../../../plugins/claude-code', import.meta.url))

/** The outcome of a hook for an event. */
export interface HookRun {
  readonly type: HookHandler['type']
  readonly ms: number
  /** Of an HTTP hook its status, 0 without an answer; of a command its exit code. */
  readonly code: number
  /** Its answer; null for none. */
  readonly output: unknown
}

export interface HookEnvironment {
  /** The gateway, in place of the address in the plugin. */
  readonly url: string
  readonly key?: string
  /** Of the commands: `HEDDLE_HOOK_QUERY`. */
  readonly query?: string
  /** The folder that Claude Code gives the plugin for its data. */
  readonly dataFolder: string
}

/** Runs the hooks of the plugin for an event, as Claude Code does: HTTP hooks as requests, commands as processes. */
export async function runHooks(event: HookEvent, environment: HookEnvironment): Promise<HookRun[]> {
  const { hooks } = hooksFileSchema.parse(JSON.parse(readFileSync(`${pluginFolder}/hooks/hooks.json`, 'utf8')))
  const groups = hooks[event.hook_event_name as keyof typeof hooks] ?? []
  const matching = groups.filter(({ matcher }) => isMatch(matcher, matchedValue(event)))
  return await Promise.all(matching.flatMap((group) => group.hooks.map((hook) => run(hook, event, environment))))
}

function matchedValue(event: HookEvent): string {
  return String(event['tool_name'] ?? event['trigger'] ?? event['reason'] ?? event['source'] ?? '')
}

/** https://code.claude.com/docs/en/hooks#matcher-patterns */
function isMatch(matcher: string | undefined, value: string): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  if (/^[\w\- ,|]+$/.test(matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === value)
  return new RegExp(matcher).test(value)
}

async function run(hook: HookHandler, event: HookEvent, environment: HookEnvironment): Promise<HookRun> {
  if (hook.type === 'command') return await spawnHook(hook, event, environment)
  const startedMs = performance.now()
  const done = await post(hook, event, environment)
  return { type: 'http', ms: performance.now() - startedMs, ...done }
}

type Done = Pick<HookRun, 'code' | 'output'>

async function post(
  hook: Extract<HookHandler, { type: 'http' }>,
  event: HookEvent,
  { url, key = '' }: HookEnvironment,
): Promise<Done> {
  const given = new URL(hook.url)
  const headers = Object.fromEntries(
    Object.entries(hook.headers ?? {}).map(([name, value]) => [
      name,
      value.replace(/\$\{?(\w+)\}?/g, (_, variable: string) =>
        variable === 'HEDDLE_KEY' && hook.allowedEnvVars?.includes(variable) === true ? key : '',
      ),
    ]),
  )
  try {
    const answer = await fetch(`${url}${given.pathname}${given.search}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout((hook.timeout ?? 600) * 1_000),
    })
    const text = await answer.text()
    return { code: answer.status, output: answer.ok && text !== '' ? JSON.parse(text) : null }
  } catch {
    return { code: 0, output: null }
  }
}

async function spawnHook(
  hook: Extract<HookHandler, { type: 'command' }>,
  event: HookEvent,
  environment: HookEnvironment,
): Promise<HookRun> {
  // Without arguments the command is a line for the shell.
  const [command, args] = hook.args === undefined ? ['sh', ['-c', hook.command]] : [hook.command, hook.args]
  const located = args.map((arg) => arg.replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, pluginFolder))
  return await runCommand(command, located, {
    event,
    timeoutMs: (hook.timeout ?? 600) * 1_000,
    variables: { CLAUDE_PLUGIN_ROOT: pluginFolder, CLAUDE_PLUGIN_DATA: environment.dataFolder },
    environment,
  })
}

interface CommandOptions {
  readonly event: object
  readonly timeoutMs: number
  /** Those that the agent sets for a plugin. */
  readonly variables: Readonly<Record<string, string>>
  readonly environment: HookEnvironment
}

/** Runs a command with an event as its standard input, and only the given variables. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { event, timeoutMs, variables, environment: { url, key, query } }: CommandOptions,
): Promise<HookRun> {
  const startedMs = performance.now()
  const env = {
    PATH: process.env['PATH'],
    ...variables,
    HEDDLE_URL: url,
    ...(key !== undefined && { HEDDLE_KEY: key }),
    ...(query !== undefined && { HEDDLE_HOOK_QUERY: query }),
  }
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'], timeout: timeoutMs })
  const pieces: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece))
  child.stdin.end(JSON.stringify(event))
  const [code] = (await once(child, 'close')) as [number | null]
  const text = Buffer.concat(pieces).toString('utf8')
  const output: unknown = text === '' ? null : JSON.parse(text)
  return { type: 'command', ms: performance.now() - startedMs, code: code ?? -1, output }
}
