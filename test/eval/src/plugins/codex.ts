import type { RemoteClient } from '@heddle/client/http'
import type { HookEnvironment } from '@heddle/test-support/claude-code/run-hooks'
import { codexEvents } from '@heddle/test-support/codex/hook-events'
import { type CodexHookInput, hookOutputSchemas } from '@heddle/test-support/codex/hook-schemas'
import { runHook } from '@heddle/test-support/codex/run-hooks'
import type { Measured } from '@heddle/test-support/figure'
import { copiesOf } from './copies.js'
import { judge, recallResult, recordedSessions } from './recorded.js'
import { openSurroundings } from './surroundings.js'
import { figureNames, Tally } from './tally.js'

const PLUGIN = 'codex-plugin'
const events = Object.keys(hookOutputSchemas)
export const codexFigures = figureNames(PLUGIN, events)

/**
 * The same for the plugin of Codex, all of whose hooks are processes. Its hooks are given no failed calls, and less text is shown
 * after a compaction.
 */
export async function measureCodexPlugin(dataDir: string): Promise<Measured[]> {
  const { client, ...environment } = await openSurroundings()
  const tally = new Tally()
  for await (const { session, path, lines } of recordedSessions(dataDir)) {
    const recorded = codexEvents(lines, { session, transcript: path, cwd: '/' })
    for (const [at, { event, original }] of recorded.entries()) {
      const output = await runTallied(event, { environment, tally })
      const { reason, hookSpecificOutput: { additionalContext: text } = {} } = (output ?? {}) as Answer
      if (reason !== undefined) tally.stubs++
      if (text !== undefined) tally.compactions.push(await judge(client, { session, events: recorded, at, text }))
      if (event.hook_event_name === 'SessionStart' && event.source === 'compact') {
        const [before] = recorded.slice(at - 1)
        if (before !== undefined) await compactCopies(client, [before.event, event], { environment, tally })
      }
      if (event.hook_event_name !== 'PostToolUse' || original === null) continue
      tally.outputs++
      if ((await recallResult(client, session, event.tool_use_id)) === original) tally.recalled++
    }
  }
  return tally.figures(PLUGIN, events)
}

interface Replayed {
  readonly environment: HookEnvironment
  readonly tally: Tally
}

async function runTallied(event: CodexHookInput, { environment, tally }: Replayed): Promise<unknown> {
  const { session_id: session, hook_event_name: name } = event
  const { ms, code, output } = await runHook(event, environment)
  tally.took(name, ms)
  const fault = code === 0 ? faultOf(name, output) : `ended with ${code}`
  if (fault !== null) tally.invalid.push(`${session} ${name} ${fault}`)
  return output
}

/** A compaction once more, without a pause between its hooks, in which an agent's model would write a summary. */
async function compactCopies(
  client: RemoteClient,
  events: readonly CodexHookInput[],
  replayed: Replayed,
): Promise<void> {
  for await (const { session, query } of copiesOf(client, events[0]?.session_id ?? '')) {
    const environment = { ...replayed.environment, query }
    for (const event of events) await runTallied({ ...event, session_id: session }, { ...replayed, environment })
  }
}

interface Answer {
  readonly reason?: string
  readonly hookSpecificOutput?: { readonly additionalContext?: string }
}

function faultOf(name: keyof typeof hookOutputSchemas, output: unknown): string | null {
  return output === null ? null : (hookOutputSchemas[name].safeParse(output).error?.message ?? null)
}
