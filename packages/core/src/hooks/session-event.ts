import type { ToolOutput } from './tool-output.js'

interface Where {
  readonly thread: string
  readonly cwd?: string | undefined
  /** When it happened, of an event that is sent afterwards. */
  readonly timestamp?: string | undefined
}

export interface CallEvent extends Where {
  readonly type: 'called'
  readonly id: string
  readonly tool: string
  readonly input: unknown
  /** The text that the model reads. */
  readonly text: string
  readonly isError: boolean
  /** Null for an output that stays as it is. */
  readonly replaceable: ToolOutput | null
  /** Whether the answer is to have the reference of the output, also where it stays. */
  readonly wantsReference: boolean
}

/** An event of a session, read from the input of a hook of any agent. */
export type SessionEvent =
  | CallEvent
  | (Where & {
      readonly type: 'said'
      readonly role: 'user' | 'assistant'
      readonly text: string
      /** The same for a repeat of the event; null if the event has nothing that identifies it. */
      readonly identity: string | null
    })
  /** A session begins, goes on or is compacted. */
  | (Where & { readonly type: 'started' | 'compacting'; readonly wantsText: boolean })
  | (Where & { readonly type: 'ended'; readonly reason: string })
  /** Something that is stored already, or says nothing. */
  | (Where & { readonly type: 'noted' })

/** The thread of a session, or of a subagent in it, named as an import names it. */
export function threadOfSession({
  session_id,
  agent_id,
}: {
  readonly session_id: string
  readonly agent_id?: string | undefined
}): string {
  return agent_id === undefined ? session_id : `${session_id}-agent-${agent_id}`
}
