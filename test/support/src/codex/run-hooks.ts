import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type HookEnvironment, type HookRun, runCommand } from '../claude-code/run-hooks.js'
import { type CodexHookInput, hooksFileSchema } from './hook-schemas.js'

export const pluginFolder = fileURLToPath(new URL('../../../../plugins/codex', import.meta.url))

/** Runs the hook of the plugin for an event, as Codex does: a line for the shell, with the folders of the plugin in its environment. */
export async function runHook(event: CodexHookInput, environment: HookEnvironment): Promise<HookRun> {
  const { hooks } = hooksFileSchema.parse(JSON.parse(readFileSync(`${pluginFolder}/hooks/hooks.json`, 'utf8')))
  const [hook, ...others] = (hooks[event.hook_event_name] ?? []).flatMap((group) => group.hooks)
  if (hook === undefined || others.length > 0) throw new Error(`${event.hook_event_name} has not exactly one hook`)
  return await runCommand('sh', ['-c', hook.command], {
    event,
    timeoutMs: (hook.timeout ?? 600) * 1_000,
    variables: { PLUGIN_ROOT: pluginFolder, PLUGIN_DATA: environment.dataFolder },
    environment,
  })
}
