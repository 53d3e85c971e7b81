/** Sends an event of Codex to Heddle: `gateway.mjs` says how. */
import { runHook } from './gateway.mjs'
import { recordsOf } from './transcript.mjs'

/** Names in a rollout of what hooks call `Bash`. */
const SHELLS = new Set(['exec_command', 'shell', 'shell_command', 'local_shell'])

/** The calls of a rollout with their outputs, since a moment: also those of which no hook was told, as they failed. */
function missedCalls({ transcript_path: path, session_id, cwd, agent_id }, sinceMs) {
  const calls = new Map()
  const missed = []
  for (const { type, timestamp, payload } of recordsOf(path)) {
    if (type !== 'response_item') continue
    if (/_call$/.test(payload?.type)) calls.set(payload.call_id ?? payload.id, payload)
    if (!/_call_output$/.test(payload?.type) || !(Date.parse(timestamp) >= sinceMs)) continue
    const call = calls.get(payload.call_id)
    const tool_name = call && nameOf(call)
    if (tool_name === undefined) continue
    const event = { session_id, cwd, agent_id, timestamp, tool_use_id: payload.call_id }
    missed.push({
      ...event,
      tool_name,
      tool_input: inputOf(call),
      hook_event_name: 'PostToolUse',
      tool_response: textOf(payload.output),
    })
  }
  return missed
}

/** A call of the local shell has no name; one of an MCP server may have that of its server beside it. */
function nameOf({ type, name, namespace }) {
  if (type === 'local_shell_call' || SHELLS.has(name)) return 'Bash'
  if (typeof namespace !== 'string' || namespace === '' || name === undefined) return name
  return `${namespace.replace(/_+$/, '')}__${name}`
}

function inputOf({ name, arguments: given, input, action }) {
  if (action !== undefined) {
    const { command } = action
    return { command: Array.isArray(command) ? command.join(' ') : command }
  }
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

await runHook({ name: 'codex', folder: process.env.PLUGIN_DATA || undefined, missedCalls })
