import type { ContextRequest, CounterName, Fill, FormatName, Receipt, Settings } from '@heddle/contracts'
import type { CompactionState } from '../compaction/state.js'
import type { Message } from '../conversation/message.js'
import type { Count } from '../history/counting.js'
import type { ContextItems } from '../items/index.js'
import type { LoopContext } from '../iterations/loop.js'
import type { ContextMemories, MemoryLimits } from '../memories/index.js'
import type { HiddenMessages } from './hidden-by-window.js'

/** Everything that a context is made of. Building it reads no clock and no store. */
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
  /** What runs for the thread, and the agent's other threads that are at work. Default nothing. */
  readonly activity?: Activity
  /** Default none. */
  readonly items?: ContextItems
  /** What was recalled, its bounds, and the messages that the context shows without it. Default none was asked for. */
  readonly memories?: ContextMemories & { readonly limits: MemoryLimits; readonly held: ReadonlySet<string> }
  readonly request: ContextRequest
  /** The agent's settings with the request's laid over them. */
  readonly settings: Settings
  readonly format: FormatName
  /** How a history that is larger than its room fills it. Default `cache`, and the receipt does not name it. */
  readonly fill?: Fill
  /** Whether the background compacts the thread in the lane of the request. Default true. */
  readonly isLaneKept?: boolean
  readonly counter: CounterName
  readonly count: Count
  /** The thread's messages in the window, except those in `unloaded`. */
  readonly messages: readonly Message[]
  /** Eligible messages that were not loaded because a summary covers them or a named cap keeps them out. */
  readonly unloaded: readonly UnloadedRange[]
  /** Messages of the thread that no context ever shows, by reason. */
  readonly ineligible: Readonly<Record<string, number>>
  /** What the rolling window and the last clear hide, by thread. Default nothing. */
  readonly hidden?: readonly HiddenMessages[]
  /** Iterations of the loop from before the last clear. Default 0. */
  readonly hiddenIterations?: number
  /** Messages that a context could show were there no window and no clear. */
  readonly imported: number
  /** The published state in this request's lane; null where there is none. */
  readonly state: CompactionState | null
  readonly stateId: string | null
  /**
   * The thread's loop, where the strategy shows iterations: then `messages` is empty, `unloaded` says what became of the
   * messages, and `stateId` names the summary of the loop.
   */
  readonly loop?: LoopContext
  readonly headSeq: number
  readonly clearEpoch: number
  /** The short reference of a message: `msg-xxxxxxxx`. */
  readonly reference: (message: Message) => string
  /** What the request bounds the context to, with its moments spelled out. Default nothing. */
  readonly scope?: NonNullable<Receipt['scope']>
}

export interface ActivityProcess {
  readonly name: string
  readonly status: string
}

/** A thread that has a status or a process that runs. */
export interface ThreadActivity {
  readonly name: string
  readonly title: string | null
  readonly goal: string | null
  readonly status: string | null
  /** Those that run, newest first. */
  readonly processes: readonly ActivityProcess[]
  /** How many more run. */
  readonly moreProcesses: number
}

export interface Activity {
  /** Those of the context's own thread. */
  readonly processes: readonly ActivityProcess[]
  readonly moreProcesses: number
  /** The agent's other threads, newest first. */
  readonly threads: readonly ThreadActivity[]
  /** How many more are at work. */
  readonly moreThreads: number
}

export interface UnloadedRange {
  readonly mode: 'covered' | 'left-out'
  readonly count: number
  readonly tokens: number
  readonly reason: string
  /** Sequence numbers of the first and the last of them, where they are known. */
  readonly fromSeq?: number
  readonly toSeq?: number
  /** The thread that they are of, where the context shows several. */
  readonly thread?: string
}
