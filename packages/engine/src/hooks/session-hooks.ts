import { newId } from '@heddle/client/calls'
import { type HookOptions, limits, PermanentError } from '@heddle/contracts'
import {
  type HookAnswer,
  importedMessageId,
  NO_CHANGE,
  recordedMessages,
  type SessionEvent,
  threadIdOf,
} from '@heddle/core'
import { appendMessages } from '../messages/messages.js'
import type { EngineContext } from '../setup/options.js'
import { orderSnapshot } from '../snapshots/snapshots.js'
import { setProcess } from '../threads/processes.js'
import type { ResumeTexts } from '../threads/resume-texts.js'
import { setThread } from '../threads/thread-details.js'
import { replaceOutput } from './replace-output.js'

/** An agent waits for its hooks, and goes on without them. */
const DEADLINE_MS = 2_000

interface AnswerOptions extends Omit<HookOptions, 'agent'> {
  /** The name of the process in the threads of a program. */
  readonly program: string
  readonly agent: string
}

/** Records the events of sessions of agents, and answers their hooks (docs/claude-code.md). */
export class SessionHooks {
  constructor(
    private readonly parts: EngineContext,
    private readonly texts: ResumeTexts,
  ) {}

  async answer(event: SessionEvent, options: AnswerOptions): Promise<HookAnswer> {
    const { parts, texts } = this
    const { thread } = event
    const { agent, program } = options
    await this.#record(event, agent)
    switch (event.type) {
      case 'called':
        return await replaceOutput(parts, event, options)
      case 'compacting':
        await ifFound(orderSnapshot(parts, { agent, description: `before a compaction of ${thread}` }))
        texts.prepare(thread)
        return event.wantsText ? await this.#textOf(thread) : NO_CHANGE
      case 'started':
        await setThread(parts, thread, { agent })
        await setProcess(parts, thread, program, { status: 'running' })
        return event.wantsText ? await this.#textOf(thread) : NO_CHANGE
      case 'ended': {
        const status = `ended: ${event.reason}`.slice(0, limits.statusCharactersMax)
        await ifFound(setProcess(parts, thread, program, { status, ended: true }))
        return NO_CHANGE
      }
      default:
        return NO_CHANGE
    }
  }

  async #textOf(thread: string): Promise<HookAnswer> {
    const { text = '' } = (await this.texts.read(thread)) ?? {}
    return { ...NO_CHANGE, text }
  }

  /** Stores what an event says. One that was recorded before, from another source, stays as it is. */
  async #record(event: SessionEvent, agent: string): Promise<void> {
    const { thread } = event
    const threadId = threadIdOf(this.parts.projectId, thread)
    const messages = recordedMessages(event).map(({ identity, input }) => ({
      ...input,
      id: identity === null ? newId() : importedMessageId(threadId, identity),
    }))
    if (messages.length === 0) return
    await appendMessages(this.parts, {
      agent,
      thread,
      messages,
      onUsedId: 'keep',
      onBusy: 'fail',
      deadlineMs: DEADLINE_MS,
    })
  }
}

/** A session that said nothing has no agent or thread, and nothing to save or close. */
async function ifFound(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof PermanentError && error.code === 'NOT_FOUND')) throw error
  }
}
