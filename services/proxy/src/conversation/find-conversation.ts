import { type ProviderRequest, projectIdOf, sharedEntries, threadIdOf } from '@heddle/core'
import type { KnownState, StatePlace } from '../backend.js'
import type { ConversationStates } from './conversation-states.js'
import type { Conversation, Conversations, Identified } from './conversations.js'

export interface Finding {
  readonly conversations: Conversations
  readonly states: ConversationStates
}

/** A request whose conversation is looked up. */
export interface Sought extends Identified {
  readonly body: Uint8Array
}

/** Chains of a request that are looked up in the store: it extends the last one by a reply and its results. */
const CHAINS_MAX = 128

/** The conversation of a request, in the state in which this or another process left it. Waits for the store if it has to. */
export async function findConversation({ conversations, states }: Finding, sought: Sought): Promise<Conversation> {
  const { lookups } = conversations
  const begin = beginOf(sought)
  const known = conversations.find(sought)
  // A later request that is found first would be stored first, and repeats the reply of this one without its model and usage.
  if (known !== undefined) {
    const refresh = isBehind(known, sought.request) ? () => states.refresh(known, sought) : null
    if (refresh === null && !lookups.isRunning(begin)) return known
    return await lookups.run(
      begin,
      async () => await refresh?.(),
      () => known,
    )
  }
  const find = () => states.find(sought.project, placeOf(sought))
  return await lookups.run(begin, find, ({ found, late }) => {
    // Another request may have opened it meanwhile.
    const opened = conversations.find(sought) ?? conversations.open(sought, found?.thread ?? null)
    if (late !== null) resumeLate(states, { conversation: opened, late, sought })
    if (found !== null && isNew(opened) && opened.thread === found.thread) states.resume(opened, found, sought)
    return opened
  })
}

/** The same for all requests of a conversation. */
function beginOf({ project, thread, session, request }: Sought): string {
  return JSON.stringify([project, thread ?? session?.session ?? request.entries[0]?.chain])
}

const isNew = ({ epoch, version }: Conversation): boolean => epoch === null && version === 0

/** A request that could not wait is sent without the state. If it is the only one, the next one continues the state. */
function resumeLate(
  states: ConversationStates,
  { conversation, late, sought }: { conversation: Conversation; late: Promise<KnownState | null>; sought: Sought },
): void {
  conversation.isLoading = true
  void late.then((found) => {
    const { thread, version, epoch } = conversation
    conversation.isLoading = false
    // The cache of the provider has both forms.
    const isFirst = version === 0 && (epoch === null || epoch.requests === 1)
    if (found !== null && thread === found.thread && isFirst) states.resume(conversation, found, sought)
    else states.save(conversation)
  })
}

function placeOf({ project, thread, session, request }: Sought): StatePlace {
  const threadId = (name: string) => threadIdOf(projectIdOf(project), name)
  if (thread !== null) return { kind: 'thread', threadId: threadId(thread) }
  if (session === null) {
    return { kind: 'chains', chains: request.entries.slice(-CHAINS_MAX).map(({ chain }) => chain) }
  }
  return {
    kind: 'session',
    session: session.session,
    begin: session.begin,
    threadId: threadId(session.thread),
    instructions: session.isContinued() ? session.instructions() : null,
  }
}

/**
 * Whether another process may have sent a request of a conversation since this one did: it has more than one reply after the
 * last request, or the last request is not a part of it.
 */
function isBehind({ epoch, isBehind: isKnown }: Conversation, request: ProviderRequest): boolean {
  if (isKnown) return true
  if (epoch === null) return false
  const shared = sharedEntries(epoch, request)
  if (shared < epoch.entries.length) return true
  const rest = request.entries.slice(shared)
  return rest.filter(({ kind }, index) => kind === 'assistant' && rest[index - 1]?.kind !== 'assistant').length > 1
}
