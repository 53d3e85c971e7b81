import type { RemoteClient } from '@heddle/client/http'
import { hookEvents, type RecordedEvent } from '@heddle/test-support/claude-code/hook-events'
import { hookOutputSchemas, toolOutputSchema } from '@heddle/test-support/claude-code/hook-schemas'
import { type HookEnvironment, type HookRun, runHooks } from '@heddle/test-support/claude-code/run-hooks'
import type { Measured } from '@heddle/test-support/figure'
import { copiesOf } from './copies.js'
import { judge, recallResult, recordedSessions } from './recorded.js'
import { openSurroundings } from './surroundings.js'
import { figureNames, Tally } from './tally.js'

const PLUGIN = 'claude-code-plugin'
const events = Object.keys(hookOutputSchemas)
export const claudeCodeFigures = figureNames(PLUGIN, events)

/**
 * Replays the recorded sessions through the hooks of the plugin: requests for its HTTP hooks, processes for its commands. Whether
 * the answers have their documented forms, how long they take, whether every output is recalled byte for byte, and whether the
 * names that an agent used after a compaction are in the text that it gets, or in what a reference of it recalls.
 */
export async function measureClaudeCodePlugin(dataDir: string): Promise<Measured[]> {
  const { client, ...environment } = await openSurroundings()
  const tally = new Tally()
  for await (const { session, path, lines } of recordedSessions(dataDir)) {
    const recorded = hookEvents(lines, { session, transcript: path, cwd: '/' })
    for (const [at, one] of recorded.entries()) {
      const { event, original } = one
      for (const done of await runTallied(one, { environment, tally })) {
        const { updatedToolOutput, additionalContext: text } = specificOf(done)
        if (updatedToolOutput !== undefined) tally.stubs++
        if (text !== undefined) tally.compactions.push(await judge(client, { session, events: recorded, at, text }))
      }
      if (event['source'] === 'compact')
        await compactCopies(client, recorded.slice(at - 1, at + 1), { environment, tally })
      if (original === null || event['tool_use_id'] === undefined) continue
      tally.outputs++
      if ((await recallResult(client, session, String(event['tool_use_id']))) === original) tally.recalled++
    }
  }
  return tally.figures(PLUGIN, events)
}

interface Replayed {
  readonly environment: HookEnvironment
  readonly tally: Tally
}

async function runTallied(one: RecordedEvent, { environment, tally }: Replayed): Promise<HookRun[]> {
  const { session_id: session, hook_event_name: name } = one.event
  const runs = await runHooks(one.event, environment)
  for (const done of runs) {
    tally.took(name, done.ms)
    const fault = faultOf(one, done)
    if (fault !== null) tally.invalid.push(`${session} ${name} ${fault}`)
  }
  return runs
}

/** A compaction once more, without a pause between its hooks, in which an agent's model would write a summary. */
async function compactCopies(
  client: RemoteClient,
  events: readonly RecordedEvent[],
  replayed: Replayed,
): Promise<void> {
  const of = events[0]?.event.session_id ?? ''
  for await (const { session, query } of copiesOf(client, of)) {
    const environment = { ...replayed.environment, query }
    for (const one of events) {
      const event = { ...one.event, session_id: session }
      await runTallied({ ...one, event }, { ...replayed, environment })
    }
  }
}

/** The fault of an answer that its schema does not allow; null for a valid one. */
function faultOf({ event }: RecordedEvent, { type, code, output }: HookRun): string | null {
  if (code !== (type === 'http' ? 200 : 0)) return `ended with ${code}`
  if (output === null) return null
  const schema = hookOutputSchemas[event.hook_event_name as keyof typeof hookOutputSchemas]
  const read = schema.safeParse(output)
  if (!read.success) return read.error.message
  const { updatedToolOutput } = specificOf({ output })
  if (updatedToolOutput === undefined) return null
  return toolOutputSchema(String(event['tool_name'])).safeParse(updatedToolOutput).error?.message ?? null
}

function specificOf({ output }: Pick<HookRun, 'output'>): { updatedToolOutput?: unknown; additionalContext?: string } {
  return (output as { hookSpecificOutput?: object } | null)?.hookSpecificOutput ?? {}
}
