import { type ContextRequest, limits, PermanentError } from '@heddle/contracts'
import {
  type BuildInput,
  ineligibleReason,
  type Message,
  mergeThreads,
  messageReference,
  NO_ACTIVITY,
  type ThreadShareOfScope,
  threadIdOf,
  turnsTaken,
  type UnloadedRange,
} from '@heddle/core'
import { type Compaction, loadCompaction, loadMessagesById, type Tx } from '@heddle/store'
import { describe, type LoadDeps, windowOverride } from './describe.js'
import { loadHistoryInput } from './load-history.js'

/** Loads the input of a context of several threads of one agent, each limited to its own window. */
export async function loadMultiThreadInput(
  tx: Tx,
  own: Compaction,
  request: ContextRequest,
  deps: LoadDeps,
): Promise<BuildInput> {
  if (request.fill === 'budget') throw fillOfSeveral()
  const names = request.scope?.threads ?? []
  const compactions = await Promise.all(names.map((name, at) => loadThreadOf(tx, own, { name, at }, request, deps)))
  refuseShared(compactions)
  const inputs = await Promise.all(compactions.map((one) => loadHistoryInput(tx, one, request, deps, 'cache')))
  const shares = await Promise.all(
    inputs.map((input, at) => shareOf(tx, compactions[at]?.thread.threadId ?? '', input)),
  )
  const ownInput = inputs[names.indexOf(own.thread.name)] ?? (await loadHistoryInput(tx, own, request, deps, 'cache'))
  const isShown = inputs.includes(ownInput)
  const all = isShown ? inputs : [...inputs, ownInput]
  const described = describe(own.thread, own.settings, request, deps)
  const merged = mergeThreads(shares, described.count)
  return {
    ...described,
    fill: 'cache',
    ...(!isShown && { thread: { ...own.thread, title: null, goal: null, status: null } }),
    activity: { ...NO_ACTIVITY, ...ownInput.activity, ...(!isShown && { processes: [], moreProcesses: 0 }) },
    messages: merged.messages,
    unloaded: [
      ...inputs.flatMap(unloadedOf),
      ...[...merged.leftOut].map(([thread, count]) => tooOld(thread, count)),
      ...(isShown ? [] : [outside(ownInput)]),
    ],
    ineligible: sumsOf(all.map(({ ineligible }) => ineligible)),
    hidden: all.flatMap(({ hidden = [] }) => hidden),
    imported: all.reduce((sum, { imported }) => sum + imported, 0),
    state: merged.state,
    stateId: null,
    turns: turnsTaken({
      messages: ownInput.messages,
      after: ownInput.state?.covered?.to ?? null,
      before: ownInput.turnsBefore,
    }),
    reference: (message: Pick<Message, 'code' | 'origin'>) =>
      message.origin?.reference ?? messageReference(message.code),
  }
}

/** Each thread has its own compaction, so there is no single history to fill the budget with. */
function fillOfSeveral(): PermanentError {
  return new PermanentError('VALIDATION_ERROR', 'fill: must not be budget for a context of several threads', {
    field: 'fill',
    received: 'budget',
    hint: 'omit it, or request a context of one thread',
  })
}

/** Two threads of one lineage have messages in common, which one of them may show and the other one cover by a summary. */
function refuseShared(compactions: readonly Compaction[]): void {
  const seen = new Map<string, string>()
  for (const [at, { thread }] of compactions.entries()) {
    for (const id of [thread.threadId, ...thread.sharedRuns.map(({ originId }) => originId)]) {
      const other = seen.get(id)
      if (other !== undefined && other !== thread.name) {
        throw new PermanentError('VALIDATION_ERROR', `threads "${other}" and "${thread.name}" share messages`, {
          field: `scope.threads.${at}`,
          received: thread.name,
          hint: 'A context of several threads takes a thread or one of its forks, not both.',
        })
      }
      seen.set(id, thread.name)
    }
  }
}

interface NamedThread {
  readonly name: string
  /** Its position in the scope. */
  readonly at: number
}

/** @throws PermanentError `NOT_FOUND` if the agent has no such thread */
async function loadThreadOf(
  tx: Tx,
  own: Compaction,
  { name, at }: NamedThread,
  request: ContextRequest,
  { settings, projectId }: LoadDeps,
): Promise<Compaction> {
  // With its own settings, by which it is compacted in the background: that compaction is used for any budget. Compactions do
  // not depend on the window, so only the window of the request applies.
  const window = windowOverride(request)
  const found = await loadCompaction(tx, { threadId: threadIdOf(projectId, name), settings, request: window })
  if (found?.thread.agentId === own.thread.agentId) return found
  throw new PermanentError('NOT_FOUND', `agent "${own.thread.agentName}" has no thread "${name}"`, {
    field: `scope.threads.${at}`,
    received: name,
    hint: 'give threads of the same agent as the thread of the request',
  })
}

async function shareOf(
  tx: Tx,
  threadId: string,
  { thread, messages, state, unloaded }: BuildInput,
): Promise<ThreadShareOfScope> {
  const { count = 0, tokens = 0 } = unloaded.find(({ mode }) => mode === 'covered') ?? {}
  const share = { name: thread.name, messages, state, covered: { count, tokens, code: '' } }
  if (state?.covered == null || state.summary === null || count === 0) return share
  const [first] = await loadMessagesById(tx, { threadId, ids: [state.covered.from.id] })
  return { ...share, covered: { count, tokens, code: first?.code ?? '' } }
}

/**
 * The messages that a thread leaves out, with its name. Messages covered by a merged summary are not included: the summary
 * accounts for them.
 */
function unloadedOf({ thread, state, unloaded }: BuildInput): UnloadedRange[] {
  const isSummaryMerged = state?.summary != null
  return unloaded
    .filter(({ mode }) => !(isSummaryMerged && mode === 'covered'))
    .map((range) => ({ ...range, thread: thread.name }))
}

function tooOld(thread: string, count: number): UnloadedRange {
  const reason = `older than the newest ${limits.multiThreadMessagesMax} messages of the scope`
  return { mode: 'left-out', count, tokens: 0, thread, reason }
}

/** The messages of the request's own thread, if the scope does not include it. */
function outside({ thread, messages, unloaded }: BuildInput): UnloadedRange {
  const eligible = messages.filter((message) => ineligibleReason(message) === null)
  const count = unloaded.reduce((sum, range) => sum + range.count, eligible.length)
  const tokens = [...unloaded, ...eligible].reduce((sum, one) => sum + one.tokens, 0)
  return {
    mode: 'left-out',
    count,
    tokens,
    thread: thread.name,
    reason: 'outside of the scope: its thread is not in it',
  }
}

function sumsOf(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [reason, count] of counts.flatMap((each) => Object.entries(each)))
    sums[reason] = (sums[reason] ?? 0) + count
  return sums
}
