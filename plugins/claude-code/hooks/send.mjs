/** Sends an event of Claude Code to Heddle: `gateway.mjs` says how. */
import { runHook } from './gateway.mjs'
import { recordsOf } from './transcript.mjs'

/** The calls of a transcript with their results, since a moment: Claude Code sent these to Heddle itself, in vain. */
function missedCalls({ transcript_path: path, session_id, cwd }, sinceMs) {
  const calls = new Map()
  const missed = []
  for (const record of recordsOf(path)) {
    const content = record.message?.content
    if (record.isSidechain === true || !Array.isArray(content)) continue
    for (const block of content) {
      if (block?.type === 'tool_use') calls.set(block.id, block)
      const call = block?.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined
      if (call === undefined || !(Date.parse(record.timestamp) >= sinceMs)) continue
      const text = textOf(block.content)
      const event = { session_id, cwd: record.cwd ?? cwd, timestamp: record.timestamp, tool_use_id: call.id }
      const called = { ...event, tool_name: call.name, tool_input: call.input }
      missed.push(
        block.is_error === true
          ? { ...called, hook_event_name: 'PostToolUseFailure', error: text }
          : { ...called, hook_event_name: 'PostToolUse', tool_response: text },
      )
    }
  }
  return missed
}

/**
 * When the turn of an event began. Its calls may have been sent in vain before a command noticed the outage; those that were
 * recorded are sent twice.
 */
function turnBeganMs({ transcript_path: path }, beforeMs) {
  const prompt = recordsOf(path).findLast(
    ({ type, timestamp, isMeta, isSidechain, message }) =>
      type === 'user' &&
      isMeta !== true &&
      isSidechain !== true &&
      isPrompt(message?.content) &&
      Date.parse(timestamp) <= beforeMs,
  )
  return prompt === undefined ? beforeMs : Date.parse(prompt.timestamp)
}

function isPrompt(content) {
  return (
    typeof content === 'string' || (Array.isArray(content) && content.every((block) => block?.type !== 'tool_result'))
  )
}

function textOf(content) {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block) => (block?.type === 'text' ? block.text : '')).join('\n')
}

await runHook({ name: 'claude-code', folder: process.env.CLAUDE_PLUGIN_DATA || undefined, missedCalls, turnBeganMs })
