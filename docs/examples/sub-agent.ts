import type { RemoteClient } from '@heddle/client/http'

/** Answers a prompt: any provider, or another agent of one's own. */
export type Ask = (messages: readonly Readonly<Record<string, unknown>>[]) => Promise<string>

export interface Task {
  /** The thread of the agent that hands the task out. */
  readonly thread: string
  /** Threads of the same agent that the sub-agent may read; what is in no other way theirs to know stays out. */
  readonly reads: readonly string[]
  readonly text: string
}

const BRIEFING_TOKENS = 4_000

/**
 * Delegates a task to a sub-agent with a briefing: the messages of some threads within the last two hours, in one conversation
 * and never over its budget. The answer is appended to a separate thread and to the delegating thread.
 */
export async function delegate(heddle: RemoteClient, ask: Ask, { thread, reads, text }: Task): Promise<string> {
  const briefing = await heddle.contexts.build({
    thread,
    message: text,
    budget: BRIEFING_TOKENS,
    format: 'openai-chat',
    scope: { threads: [...reads], since: '2h', items: false },
  })
  const answer = await ask(briefing.messages)
  await heddle.messages.append({
    agent: 'sub-agent',
    thread: `${thread}-task-${briefing.id}`,
    messages: [
      { role: 'user', content: text },
      { role: 'assistant', content: answer, contextId: briefing.id },
    ],
  })
  await heddle.messages.append({
    agent: briefing.agent,
    thread,
    messages: [{ role: 'user', content: `The sub-agent reports:\n${answer}` }],
  })
  return answer
}
