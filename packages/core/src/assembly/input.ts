import type { ContextRequest, CounterName, Fill, FormatName, Receipt, Settings } from '@heddle/contracts'
import type { ContextBlock } from '../blocks/index.js'
import type { CompactionState } from '../compaction/state.js'
import type { Message } from '../conversation/message.js'
import type { ContextFacts } from '../facts/index.js'
import type { Count } from '../history/counting.js'
import type { ContextItems } from '../items/index.js'
import type { LoopContext } from '../iterations/loop.js'
import type { ContextLedger } from '../ledger/index.js'
import type { ContextMemories, MemoryLimits } from '../memories/index.js'
import type { HiddenMessages } from './hidden-by-window.js'

/** All inputs of a context. Building reads no clock and no store. */
export interface BuildInput {
  readonly agent: {
    readonly name: string
    readonly version: number
    readonly systemPrompt: string
    readonly docs: readonly { name: string; text: string }[]
  }
  readonly thread: {
    readonly name: string
    readonly title: string | null
    readonly goal: string | null
    readonly status: string | null
  }
  /** Processes that run for the thread, and the agent's other active threads. Default: no activity. */
  readonly activity?: Activity
  /** Memory blocks in the order of the context, as of its last compaction and as of now. Default: no blocks. */
  readonly blocks?: readonly ContextBlock[]
  /** Recorded facts of the thread and its agent. Absent if the request does not want them. */
  readonly facts?: ContextFacts
  /** The ledger as of the last compaction. Absent if the request does not want it. */
  readonly ledger?: ContextLedger
  /** Default: no items. */
  readonly items?: ContextItems
  /**
   * The recalled memories, their limits, and the messages that the context shows anyway. Absent if the request does not
   * recall.
   */
  readonly memories?: ContextMemories & { readonly limits: MemoryLimits; readonly held: ReadonlySet<string> }
  readonly request: ContextRequest
  /** The agent's settings, overridden by the request's. */
  readonly settings: Settings
  readonly format: FormatName
  /** How a history larger than its allocation is filled. Default `cache`, which the receipt does not name. */
  readonly fill?: Fill
  /** Whether background compaction maintains the lane of the request. Default true. */
  readonly isLaneKept?: boolean
  readonly counter: CounterName
  readonly count: Count
  /** The thread's messages in the window, except those in `unloaded`. */
  readonly messages: readonly Message[]
  /** Eligible messages that were not loaded, because a summary covers them or a named limit excludes them. */
  readonly unloaded: readonly UnloadedRange[]
  /** Messages of the thread that no context ever shows, by reason. */
  readonly ineligible: Readonly<Record<string, number>>
  /** Messages hidden by the rolling window and the last clear, by thread. Default: no hidden messages. */
  readonly hidden?: readonly HiddenMessages[]
  /** Iterations of the loop from before the last clear. Default 0. */
  readonly hiddenIterations?: number
  /** Messages that a context could show without a window and a clear. */
  readonly imported: number
  /** The published state that the history continues from: of this request's lane, or one that may serve it; or null. */
  readonly state: CompactionState | null
  readonly stateId: string | null
  /** The model or method that wrote the summary of the state. Default: not known. */
  readonly summarizer?: string | undefined
  /**
   * The thread's loop, if the strategy shows iterations: then `messages` is empty, `unloaded` accounts for the
   * messages, and `stateId` names the summary of the loop.
   */
  readonly loop?: LoopContext
  /** Replies of the model before those `messages` that the state does not cover, if none of them is from the user. Default 0. */
  readonly turnsBefore?: number
  /** Replies of the model since the user's latest message; needed only if `messages` are of several threads. */
  readonly turns?: number
  readonly headSeq: number
  readonly clearEpoch: number
  /** The short reference of a message: `msg-xxxxxxxx`. */
  readonly reference: (message: Pick<Message, 'code' | 'origin'>) => string
  /** The scope of the request, with absolute times. Default: no scope. */
  readonly scope?: NonNullable<Receipt['scope']>
}

export interface ActivityProcess {
  readonly name: string
  readonly status: string
}

/** A thread with a status or a running process. */
export interface ThreadActivity {
  readonly name: string
  readonly title: string | null
  readonly goal: string | null
  readonly status: string | null
  /** Running processes, newest first. */
  readonly processes: readonly ActivityProcess[]
  /** Number of running processes beyond those listed. */
  readonly moreProcesses: number
}

export interface Activity {
  /** Running processes of the context's own thread. */
  readonly processes: readonly ActivityProcess[]
  readonly moreProcesses: number
  /** The agent's other threads, newest first. */
  readonly threads: readonly ThreadActivity[]
  /** Number of active threads beyond those listed. */
  readonly moreThreads: number
}

export interface UnloadedRange {
  readonly mode: 'covered' | 'left-out'
  readonly count: number
  readonly tokens: number
  readonly reason: string
  /** Sequence numbers of the first and the last message, if known. */
  readonly fromSeq?: number
  readonly toSeq?: number
  /** The thread of the messages, in a context of several threads. */
  readonly thread?: string
}
