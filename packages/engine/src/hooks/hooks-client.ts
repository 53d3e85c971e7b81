import { newId } from '@heddle/client/calls'
import type { HooksClient } from '@heddle/client/interface'
import {
  type ClaudeCodeEvent,
  type ClaudeCodeHookOptions,
  type ClaudeCodeHookOutput,
  claudeCodeEventSchema,
  claudeCodeHookQuerySchema,
  limits,
  PermanentError,
  parse,
} from '@heddle/contracts'
import { importedMessageId, recordedMessages, threadIdOf, threadOfEvent } from '@heddle/core'
import { appendMessages } from '../messages/messages.js'
import type { EngineContext } from '../setup/options.js'
import { orderSnapshot } from '../snapshots/snapshots.js'
import { setProcess } from '../threads/processes.js'
import { ResumeTexts } from '../threads/resume-texts.js'
import { setThread } from '../threads/thread-details.js'
import { replaceOutput } from './replace-output.js'

const AGENT_DEFAULT = 'claude-code'
/** An agent waits for its hooks, and goes on without them. */
const DEADLINE_MS = 2_000

export function hooksClient(parts: EngineContext): HooksClient {
  const texts = new ResumeTexts(parts)
  return {
    claudeCode: (event, options) => claudeCodeHook(parts, texts, event, options),
  }
}

/**
 * Records an event of Claude Code, and answers as its hook does (docs/claude-code.md).
 *
 * @throws PermanentError `VALIDATION_ERROR`
 * @throws RetryableError `TIMEOUT`, `RATE_LIMITED` or `SERVICE_UNAVAILABLE`
 */
async function claudeCodeHook(
  parts: EngineContext,
  texts: ResumeTexts,
  given: ClaudeCodeEvent,
  options: ClaudeCodeHookOptions = {},
): Promise<ClaudeCodeHookOutput> {
  const event = parse(claudeCodeEventSchema, given, 'event')
  const how = parse(claudeCodeHookQuerySchema, options, 'options')
  const agent = how.agent ?? AGENT_DEFAULT
  const thread = threadOfEvent(event)
  await record(parts, { event, agent, thread })
  switch (event.hook_event_name) {
    case 'PostToolUse':
      return await replaceOutput(parts, event, { thread, ...how })
    case 'PreCompact':
      await ifFound(orderSnapshot(parts, { agent, description: `before a compaction of ${thread}` }))
      texts.prepare(thread)
      return {}
    case 'SessionEnd':
      await close(parts, thread, event.reason)
      return {}
    case 'SessionStart': {
      await open(parts, { agent, thread })
      if (event.source !== 'compact' && event.source !== 'resume') return {}
      const { text: additionalContext = '' } = (await texts.read(thread)) ?? {}
      if (additionalContext === '') return {}
      return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } }
    }
    default:
      return {}
  }
}

interface Recorded {
  readonly event: ClaudeCodeEvent
  readonly agent: string
  readonly thread: string
}

/** Stores what an event says. One that was recorded before, from another source, stays as it is. */
async function record(parts: EngineContext, { event, agent, thread }: Recorded): Promise<void> {
  const threadId = threadIdOf(parts.projectId, thread)
  const messages = recordedMessages(event).map(({ identity, input }) => ({
    ...input,
    id: identity === null ? newId() : importedMessageId(threadId, identity),
  }))
  if (messages.length === 0) return
  await appendMessages(parts, { agent, thread, messages, onUsedId: 'keep', onBusy: 'fail', deadlineMs: DEADLINE_MS })
}

/** The process that runs for the thread of a session. */
const PROCESS = 'claude-code'

async function open(parts: EngineContext, { agent, thread }: Pick<Recorded, 'agent' | 'thread'>): Promise<void> {
  await setThread(parts, thread, { agent })
  await setProcess(parts, thread, PROCESS, { status: 'running' })
}

async function close(parts: EngineContext, thread: string, reason: string): Promise<void> {
  const status = `ended: ${reason}`.slice(0, limits.statusCharactersMax)
  await ifFound(setProcess(parts, thread, PROCESS, { status, ended: true }))
}

/** A session that said nothing has no agent or thread, and nothing to save or close. */
async function ifFound(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof PermanentError && error.code === 'NOT_FOUND')) throw error
  }
}
