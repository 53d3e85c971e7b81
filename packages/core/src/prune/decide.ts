import type { Settings } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import { isAssistantSide, type ToolPairs } from '../conversation/turns.js'
import { contentWithLines, describePart, partLines } from '../parts/line.js'
import { partsTokens } from '../parts/tokens.js'
import { countTokens } from '../tokens/tokens.js'
import { describeToolCall, type ToolCatalog } from '../tools/catalog.js'
import type { ArchiveDraft } from './archive-draft.js'
import { condensedLine, stubLine } from './condense.js'
import { besideReasoning, type CallDraft, condenseCalls } from './condense-calls.js'
import { type ToolEvent, toolEvents } from './events.js'
import { summarizeInOneLine } from './one-line.js'
import { type Candidate, OVERWRITTEN_REASON, pruneRules, type Verdict } from './rules.js'
import { findOverwritten, findSuperseded } from './supersession.js'

export type PruneAction = 'condense' | 'remove' | 'stub'

export interface PruneDecision {
  readonly messageId: string
  /** `stub`: the result was due for removal, but its call has to stay. */
  readonly action: PruneAction
  /** The text that replaces that of the message; empty if it is removed, or if only inputs of its calls are replaced. */
  readonly text: string
  /** The calls whose inputs are replaced, in their order. */
  readonly calls: readonly CallDraft[]
  /** A fixed phrase, for receipts and counts. */
  readonly reason: string
  /** That of the message; if only inputs are replaced, that of the first call. */
  readonly archive: ArchiveDraft
}

export interface PruneInput {
  /** In conversation order, up to the point of the compaction. */
  readonly messages: readonly Message[]
  readonly pairs: ToolPairs
  readonly settings: Settings['prune']
  readonly alreadyPruned: ReadonlySet<string>
  /** Those among `alreadyPruned` whose text is condensed: they may still be removed, since an outdated view misleads. */
  readonly condensed?: ReadonlySet<string>
  /** The numbers of the calls whose inputs are replaced already, by the id of the message; others may follow. */
  readonly condensedCalls?: ReadonlyMap<string, readonly number[]>
  /** Messages that must stay unchanged besides the pinned ones, such as the turns of a pin. */
  readonly keptRaw?: ReadonlySet<string>
  /** The reference of a message: `msg-xxxxxxxx`. */
  readonly reference: (message: Message) => string
  readonly catalog?: ToolCatalog
}

/**
 * Decides which messages of a conversation are condensed or removed, by the rules of docs/pruning.md. A message is decided on
 * once, except that a condensed one may be removed later, and inputs of its calls condensed. A result is removed together with
 * its call, or leaves a stub; a text that would not become shorter stays. In conversation order.
 */
export function decidePrunings(input: PruneInput): PruneDecision[] {
  const { messages, pairs, settings, alreadyPruned } = input
  const events = toolEvents(messages, pairs, input.catalog)
  const eventOf = new Map(events.map((event) => [event.result.id, event]))
  const superseded = findSuperseded(events)
  const outdated = outdatedCalls(events, input)
  const untouchable = findUntouchable(input)
  const present = new Set(messages.map((message) => message.id))
  const decisions = new Map<string, PruneDecision>()

  for (const [index, message] of messages.entries()) {
    const age = messages.length - 1 - index
    if (age < settings.keepLastN) break
    const again = alreadyPruned.has(message.id)
    const isCondensed = input.condensed?.has(message.id) ?? false
    const earlierCalls = input.condensedCalls?.get(message.id) ?? []
    if (untouchable.has(message.id) || (again && !isCondensed && earlierCalls.length === 0)) continue
    const event = eventOf.get(message.id) ?? null
    const supersededBy = superseded.get(message.id) ?? null
    const verdict = firstVerdict({ message, age, event, supersededBy, settings })
    const carriedOut = verdict === null ? [] : carryOut(verdict, message, event, { input, untouchable, present })
    const calls = condenseCalls(message, outdated.get(message.id) ?? [], input.reference(message))
    const own = carriedOut.find(({ messageId }) => messageId === message.id)
    const isNews = calls.length > earlierCalls.length || own?.action === 'remove' || own?.action === 'stub'
    if (again && !isNews && (isCondensed || own === undefined)) continue
    for (const decision of withCalls(message, carriedOut, calls)) decisions.set(decision.messageId, decision)
  }
  return messages.flatMap((message) => decisions.get(message.id) ?? [])
}

/** The calls whose inputs are needless, those that were condensed before included, by the ids of their messages. */
function outdatedCalls(
  events: readonly ToolEvent[],
  { messages, condensedCalls }: PruneInput,
): Map<string, ToolEvent[]> {
  const overwritten = findOverwritten(events)
  const calls = new Map<string, ToolEvent[]>()
  if (overwritten.size === 0 && !condensedCalls?.size) return calls
  const unchangeable = besideReasoning(messages)
  for (const event of events) {
    if (event.pair === null) continue
    const { callMessage, callIndex } = event.pair
    const isOutdated = overwritten.has(event) || condensedCalls?.get(callMessage.id)?.includes(callIndex + 1)
    if (!isOutdated || unchangeable.has(callMessage.id)) continue
    calls.set(callMessage.id, [...(calls.get(callMessage.id) ?? []), event])
  }
  return calls
}

/** Adds calls to the decision on their message; without one, the text of the message stays. */
function withCalls(
  message: Message,
  decisions: readonly PruneDecision[],
  calls: readonly CallDraft[],
): PruneDecision[] {
  const [first] = calls
  if (first === undefined) return [...decisions]
  const { id: messageId } = message
  const isDecided = decisions.some((decision) => decision.messageId === messageId)
  if (isDecided) return decisions.map((each) => (each.messageId === messageId ? { ...each, calls } : each))
  const { archive } = first
  return [...decisions, { messageId, action: 'condense', text: '', calls, reason: OVERWRITTEN_REASON, archive }]
}

function firstVerdict(candidate: Candidate): Verdict | null {
  for (const rule of pruneRules) {
    const verdict = rule(candidate)
    if (verdict !== null) return verdict
  }
  return null
}

/**
 * Pinned messages, those protected by the caller, those that are in no context, and the newest message of each side.
 */
function findUntouchable({ messages, keptRaw, settings }: PruneInput): Set<string> {
  const untouchable = new Set(keptRaw)
  const sides = new Set<string>()
  for (const [index, message] of messages.toReversed().entries()) {
    const side = isAssistantSide(message) || message.role === 'tool_result' ? 'agent' : message.role
    if (!sides.has(side) || message.pinned || message.keptAside !== null || index < settings.keepLastN) {
      untouchable.add(message.id)
    }
    sides.add(side)
  }
  return untouchable
}

interface Surroundings {
  readonly input: PruneInput
  readonly untouchable: ReadonlySet<string>
  readonly present: ReadonlySet<string>
}

function carryOut(
  verdict: Verdict,
  message: Message,
  event: ToolEvent | null,
  surroundings: Surroundings,
): PruneDecision[] {
  const { input } = surroundings
  const archive = archiveOf(message, event)
  const reference = input.reference(message)
  const parts = { use: event?.use ?? null, outcome: event?.outcome ?? null, summary: archive.summary, reference }
  const { reason } = verdict
  const withLines = (text: string) => [text, ...partLines(message, reference)].join(' ')
  if (verdict.action === 'condense') {
    const text = message.role === 'user' ? contentWithLines(message, reference) : withLines(condensedLine(parts))
    return ifShorter({ messageId: message.id, action: 'condense', text, calls: [], reason, archive })
  }
  const caller = removableCaller(event, surroundings)
  if (caller === null) {
    // An error text is useful, unless it makes the stub longer than the result.
    const texts = [stubLine(reason, parts), stubLine(reason, { ...parts, summary: '' })].map(withLines)
    const stubs = texts.flatMap((text) =>
      ifShorter({ messageId: message.id, action: 'stub', text, calls: [], reason, archive }),
    )
    return stubs.slice(0, 1)
  }
  return [removal(caller, reason, archiveOfCall(caller, input.catalog)), removal(message, reason, archive)]
}

function removal({ id: messageId }: Message, reason: string, archive: ArchiveDraft): PruneDecision {
  return { messageId, action: 'remove', text: '', calls: [], reason, archive }
}

function ifShorter(decision: PruneDecision): PruneDecision[] {
  return countTokens(decision.text) < decision.archive.tokens ? [decision] : []
}

/** The message of a result's call, if it contains only that call and may be removed with its result. */
function removableCaller(event: ToolEvent | null, { input, untouchable, present }: Surroundings): Message | null {
  const caller = event?.pair?.callMessage
  if (!caller || !present.has(caller.id) || untouchable.has(caller.id) || input.alreadyPruned.has(caller.id))
    return null
  const holdsMore = caller.toolCalls.length > 1 || caller.thinking.length > 0 || caller.content.trim() !== ''
  return holdsMore ? null : caller
}

function archiveOf(message: Message, event: ToolEvent | null): ArchiveDraft {
  // A result that is only an image is described by the image.
  const shown = message.content.trim() === '' ? (message.parts ?? []).map(describePart).join(', ') : message.content
  const kind = event?.use.kind ?? (isAssistantSide(message) ? 'assistant' : 'other')
  return {
    messageId: message.id,
    location: '',
    contentType: kind,
    summary: summarizeInOneLine(shown, event?.use ?? null, event?.outcome ?? null),
    content: message.content,
    filePaths: event?.paths ?? [],
    toolName: message.toolName ?? event?.pair?.call.name ?? null,
    tokens: contentTokens(message) + partsTokens(message.parts),
  }
}

/**
 * A long message without calls, reasoning and parts was counted when it was stored: counting again would take .2 s per
 * megabyte.
 */
function contentTokens({ content, toolCalls, thinking, parts, tokens, tokensExact }: Message): number {
  const isCounted = tokensExact && content.length >= COUNTED_CHARACTERS_MIN
  const isContentAlone = toolCalls.length === 0 && thinking.length === 0 && (parts ?? []).length === 0
  return isCounted && isContentAlone ? tokens : countTokens(content)
}

const COUNTED_CHARACTERS_MIN = 4_000

function archiveOfCall(caller: Message, catalog?: ToolCatalog): ArchiveDraft {
  const content = JSON.stringify(caller.toolCalls)
  const call = caller.toolCalls[0]
  const use = call ? describeToolCall(call, catalog) : null
  return {
    messageId: caller.id,
    location: '',
    contentType: use?.kind ?? 'assistant',
    summary: summarizeInOneLine(
      `called ${call?.name ?? ''} ${use?.path ?? use?.pattern ?? use?.command ?? ''}`,
      null,
      null,
    ),
    content,
    filePaths: use?.paths ?? [],
    toolName: call?.name ?? null,
    tokens: countTokens(content),
  }
}
