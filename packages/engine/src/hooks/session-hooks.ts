import { newId } from '@heddle/client/calls'
import { type HookOptions, limits, PermanentError } from '@heddle/contracts'
import {
  type HookAnswer,
  importedMessageId,
  NO_CHANGE,
  recordedMessages,
  type SessionEvent,
  threadIdOf,
  warmUpResumeText,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { appendMessages } from '../messages/messages.js'
import type { EngineContext } from '../setup/options.js'
import { orderSnapshot } from '../snapshots/snapshots.js'
import { setProcess } from '../threads/processes.js'
import type { ResumeTexts } from '../threads/resume-texts.js'
import { setThread } from '../threads/thread-details.js'
import { replaceOutput } from './replace-output.js'

/** An agent waits for its hooks, and goes on without them. */
const DEADLINE_MS = 2_000
/** The snapshot of a compaction is made once the agent has its text, which the work for it would delay. */
const SNAPSHOT_DELAY_MS = 1_000

interface AnswerOptions extends Omit<HookOptions, 'agent'> {
  /** The name of the process in the threads of a program. */
  readonly program: string
  readonly agent: string
}

/** Records the events of sessions of agents, and answers their hooks (docs/claude-code.md). */
export class SessionHooks {
  #isWarm = false

  constructor(
    private readonly parts: EngineContext,
    private readonly texts: ResumeTexts,
  ) {}

  async answer(event: SessionEvent, options: AnswerOptions): Promise<HookAnswer> {
    const answer = await this.#answer(event, options)
    this.#warmUp()
    return answer
  }

  async #answer(event: SessionEvent, options: AnswerOptions): Promise<HookAnswer> {
    const { parts, texts } = this
    const { thread } = event
    const { agent, program } = options
    await this.#record(event, agent)
    switch (event.type) {
      case 'called':
        return await replaceOutput(parts, event, options)
      case 'compacting': {
        const description = `before a compaction of ${thread}`
        const ordering = ifFound(orderSnapshot(parts, { agent, description, delayMs: SNAPSHOT_DELAY_MS }))
        if (!event.wantsText) texts.prepare(thread, ordering)
        // Neither waits for the other, or fails with it.
        const [answer, ordered] = await Promise.allSettled([
          event.wantsText ? this.#textOf(thread) : NO_CHANGE,
          ordering,
        ])
        if (answer.status === 'rejected') throw answer.reason
        if (ordered.status === 'rejected') throw ordered.reason
        return answer.value
      }
      case 'started': {
        const [answer] = await Promise.all([
          event.wantsText ? this.#textOf(thread) : NO_CHANGE,
          this.#start(thread, { agent, program }),
        ])
        return answer
      }
      case 'ended': {
        const status = `ended: ${event.reason}`.slice(0, limits.statusCharactersMax)
        await ifFound(setProcess(parts, thread, program, { status, ended: true }))
        return NO_CHANGE
      }
      default:
        return NO_CHANGE
    }
  }

  async #start(thread: string, { agent, program }: Pick<AnswerOptions, 'agent' | 'program'>): Promise<void> {
    await setThread(this.parts, thread, { agent })
    await setProcess(this.parts, thread, program, { status: 'running' })
  }

  /** After the first event of a process, long before a session needs a text. */
  #warmUp(): void {
    if (this.#isWarm) return
    this.#isWarm = true
    setImmediate(() => void runCooperatively(warmUpResumeText()))
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
