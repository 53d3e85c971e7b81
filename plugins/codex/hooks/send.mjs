/** Sends an event of Codex to Heddle: `gateway.mjs` says how. */
import { recordsOf, runHook } from './gateway.mjs'

/** Names in a rollout of what hooks call `Bash`. */
const SHELLS = new Set(['exec_command', 'shell', 'shell_command', 'local_shell'])

/** The calls of a rollout with their outputs, since a moment: also those of which no hook was told, as they failed. */
function missedCalls({ transcript_path: path, session_id, cwd, agent_id }, sinceMs) {
  const calls = new Map()
  const missed = []
  for (const { type, timestamp, payload } of recordsOf(path)) {
    if (type !== 'response_item' || !(Date.parse(timestamp) >= sinceMs)) continue
    if (/_call$/.test(payload?.type)) calls.set(payload.call_id, payload)
    const call = /_call_output$/.test(payload?.type) ? calls.get(payload.call_id) : undefined
    if (call === undefined) continue
    const event = { session_id, cwd, agent_id, timestamp, tool_use_id: payload.call_id }
    const called = { tool_name: SHELLS.has(call.name) ? 'Bash' : call.name, tool_input: inputOf(call) }
    missed.push({ ...event, ...called, hook_event_name: 'PostToolUse', tool_response: textOf(payload.output) })
  }
  return missed
}

function inputOf({ name, arguments: given, input }) {
  if (typeof input === 'string') return { command: input }
  try {
    const { cmd, ...fields } = JSON.parse(given)
    return SHELLS.has(name) && cmd !== undefined ? { command: cmd, ...fields } : JSON.parse(given)
  } catch {
    return { input: given }
  }
}

function textOf(output) {
  if (typeof output === 'string') return output
  const blocks = Array.isArray(output) ? output : output?.content
  if (!Array.isArray(blocks)) return typeof blocks === 'string' ? blocks : JSON.stringify(output ?? '')
  return blocks.map((block) => block?.text ?? '').join('\n')
}

const folder = process.env.PLUGIN_DATA || process.env.HEDDLE_HOOK_DATA || undefined
await runHook({ name: 'codex', folder, missedCalls })
