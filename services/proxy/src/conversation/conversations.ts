import type { Cover, Epoch, EpochMarks } from '@heddle/contracts'
import { type ProviderRequest, projectIdOf, threadIdOf } from '@heddle/core'
import { LRUCache } from 'lru-cache'
import { KnownMessages } from '../record/known-messages.js'
import type { Viewed } from '../record/relayed-view.js'
import { InOrder } from './in-order.js'
import type { ClientSession } from './session.js'

/** A conversation of an agent with its provider. */
export interface Conversation {
  readonly project: string
  readonly agent: string
  readonly thread: string
  readonly threadId: string
  /** Whether each of its requests names the thread or a session. */
  readonly isNamed: boolean
  /** The client's session, with the beginning of the last request; null without one. */
  session: { readonly session: string; readonly begin: string; readonly instructions: string | null } | null
  /** The messages that are stored, by the entries of requests. */
  readonly known: KnownMessages
  /** The state of the last request as it was sent; null before the first one. */
  epoch: Epoch | null
  /** Places of that request. */
  marks: EpochMarks | null
  /** The version of the state in the store; 0 if it is not there. */
  version: number
  /** The epoch of that version; null if it is not known, so that all of its parts are written. */
  written: Epoch | null
  /** Whether another process sent a later request. */
  isBehind: boolean
  /** Whether its state is still being loaded, after its first request was sent without it. */
  isLoading: boolean
  /** A summary that may replace the history from the next request on. */
  prepared: Cover | null
  /** Whether one is being made. */
  isPreparing: boolean
  /** Chain of the last request as received. */
  chain: string
  /** Requests whose views are stored, the last ones. */
  viewed: readonly Viewed[]
  /** Settles when everything before is stored, so that messages are stored in their order. */
  stored: Promise<void>
}

/** Entries of conversations that are remembered: some hundred long ones. */
const ENTRIES_MAX = 400_000
const CONVERSATIONS_MAX = 5_000
/** Conversations of a session among which a continued one is looked for, the last ones. */
const OF_SESSION_MAX = 50

export interface Identified {
  readonly project: string
  readonly agent: string
  /** The name of the thread, if the caller says it. */
  readonly thread: string | null
  /** The client's session, if there is one and no name. */
  readonly session: ClientSession | null
  readonly request: ProviderRequest
}

/**
 * The conversations of this process. A request without a name belongs to the conversation of which it repeats the whole last
 * request; one that leaves a known conversation earlier is a branch, and begins a thread of its own. One of a session belongs
 * to the conversation that begins alike, or that it continues after the client has compacted it.
 */
export class Conversations {
  readonly #known = new LRUCache<string, Conversation>({
    max: CONVERSATIONS_MAX,
    maxSize: ENTRIES_MAX,
    sizeCalculation: ({ known }) => 1 + known.entries,
  })
  /** Threads by the chain of their last request. */
  readonly #byChain = new LRUCache<string, string>({ max: CONVERSATIONS_MAX })
  /** Threads of a session by what their requests begin with, the last one last. */
  readonly #bySession = new LRUCache<string, Map<string, string>>({ max: CONVERSATIONS_MAX })
  readonly #newName: () => string
  /** Reads of the store, by what all requests of a conversation begin with. */
  readonly lookups = new InOrder()

  /** @param newName of a thread that nobody named */
  constructor(newName: () => string) {
    this.#newName = newName
  }

  /** The conversation of a request, if it is known. */
  find({ project, thread, session, request }: Identified): Conversation | undefined {
    const name =
      thread ?? (session === null ? this.#threadOf(project, request) : this.#threadOfSession(project, session))
    return name === undefined ? undefined : this.#known.get(keyOf(project, name))
  }

  /**
   * Opens the conversation of a request that was not found, so that one that follows is found by it from then on.
   *
   * @param thread under which the store knows it; null if it does not
   */
  open({ project, agent, thread: given, session, request }: Identified, thread: string | null): Conversation {
    const name = thread ?? given ?? session?.thread ?? this.#newName()
    const key = keyOf(project, name)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made: Conversation = {
      project,
      agent,
      thread: name,
      threadId: threadIdOf(projectIdOf(project), name),
      isNamed: given !== null || session !== null,
      session: session === null ? null : keptSession(session),
      known: new KnownMessages(),
      epoch: null,
      marks: null,
      version: 0,
      written: null,
      isBehind: false,
      isLoading: false,
      prepared: null,
      isPreparing: false,
      chain: '',
      viewed: [],
      stored: Promise.resolve(),
    }
    this.#known.set(key, made)
    this.#noteSession(made, session)
    this.advance(made, request)
    return made
  }

  /** Called once a request of a conversation has arrived: the next one is found by it. */
  advance(conversation: Conversation, request: ProviderRequest): void {
    const { project, thread, chain: before } = conversation
    const chain = request.entries.at(-1)?.chain ?? ''
    if (chain === before || chain === '') return
    this.#byChain.delete(keyOf(project, before))
    this.#byChain.set(keyOf(project, chain), thread)
    conversation.chain = chain
    // Weighs it anew.
    this.#known.set(keyOf(project, thread), conversation)
  }

  /** Notes what a request of a session begins with: later ones begin alike. */
  noteSession(conversation: Conversation, session: ClientSession | null): void {
    if (session === null || conversation.session === null || session.begin === conversation.session.begin) return
    conversation.session = { ...conversation.session, begin: session.begin }
    this.#noteSession(conversation, session)
  }

  #noteSession({ project, thread }: Conversation, session: ClientSession | null): void {
    if (session === null) return
    const key = keyOf(project, session.session)
    const threads = this.#bySession.get(key) ?? new Map<string, string>()
    threads.delete(session.begin)
    threads.set(session.begin, thread)
    const [oldest] = threads.keys()
    if (threads.size > OF_SESSION_MAX && oldest !== undefined) threads.delete(oldest)
    this.#bySession.set(key, threads)
  }

  #threadOf(project: string, { entries }: ProviderRequest): string | undefined {
    for (let index = entries.length - 1; index >= 0; index--) {
      const thread = this.#byChain.get(keyOf(project, entries[index]?.chain ?? ''))
      if (thread !== undefined) return thread
    }
    return undefined
  }

  #threadOfSession(project: string, session: ClientSession): string {
    const threads = this.#bySession.get(keyOf(project, session.session))
    const known = threads?.get(session.begin)
    if (known !== undefined) return known
    const instructions = threads !== undefined && session.isContinued() ? session.instructions() : null
    if (threads === undefined || instructions === null) return session.thread
    const alike = [...new Set(threads.values())].flatMap((name) => {
      const conversation = this.#known.get(keyOf(project, name))
      return conversation?.session?.instructions === instructions ? [conversation] : []
    })
    const last = alike.toSorted((one, other) => (one.epoch?.sentAtMs ?? 0) - (other.epoch?.sentAtMs ?? 0)).at(-1)
    return last?.thread ?? session.thread
  }
}

/** Without the request that it was read from. */
function keptSession({ session, begin, instructions }: ClientSession): Conversation['session'] {
  return { session, begin, instructions: instructions() }
}

function keyOf(project: string, name: string): string {
  return `${project} ${name}`
}
