import type { Settings, ToolKind } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import { isAssistantSide, type ToolPairs } from '../conversation/turns.js'
import { contentWithLines, describePart, partLines } from '../parts/line.js'
import { partsTokens } from '../parts/tokens.js'
import { countTokens } from '../tokens/tokens.js'
import { describeToolCall, type ToolCatalog } from '../tools/catalog.js'
import { condensedLine, stubLine } from './condense.js'
import { type ToolEvent, toolEvents } from './events.js'
import { summarizeInOneLine } from './one-line.js'
import { type Candidate, pruneRules, type Verdict } from './rules.js'
import { findSuperseded } from './supersession.js'

export type PruneAction = 'condense' | 'remove' | 'stub'

/** The archive entry of a pruned message, for recall. */
export interface ArchiveDraft {
  readonly messageId: string
  readonly contentType: Exclude<ToolKind, 'other'> | 'assistant' | 'other'
  readonly summary: string
  /** The message's content byte for byte; for a removed message that is only a call, its calls as JSON. */
  readonly content: string
  readonly filePaths: readonly string[]
  readonly toolName: string | null
  readonly tokens: number
}

export interface PruneDecision {
  readonly messageId: string
  /** `stub`: the result was due for removal, but its call has to stay. */
  readonly action: PruneAction
  /** The text that replaces the message; empty if it is removed. */
  readonly text: string
  /** A fixed phrase, for receipts and counts. */
  readonly reason: string
  readonly archive: ArchiveDraft
}

export interface PruneInput {
  /** In conversation order, up to the point of the compaction. */
  readonly messages: readonly Message[]
  readonly pairs: ToolPairs
  readonly settings: Settings['prune']
  readonly alreadyPruned: ReadonlySet<string>
  /** The condensed ones among `alreadyPruned`: they may still be removed, since an outdated view misleads. */
  readonly condensed?: ReadonlySet<string>
  /** Messages that must stay unchanged besides the pinned ones, such as the turns of a pin. */
  readonly keptRaw?: ReadonlySet<string>
  /** The reference of a message: `msg-xxxxxxxx`. */
  readonly reference: (message: Message) => string
  readonly catalog?: ToolCatalog
}

/**
 * Decides which messages of a conversation are condensed or removed, by the rules of docs/pruning.md. A message is
 * decided on once, except that a condensed one may be removed later. A result is removed together with its call, or
 * leaves a stub; a text that would not become shorter stays. In conversation order.
 */
export function decidePrunings(input: PruneInput): PruneDecision[] {
  const { messages, pairs, settings, alreadyPruned } = input
  const events = toolEvents(messages, pairs, input.catalog)
  const eventOf = new Map(events.map((event) => [event.result.id, event]))
  const superseded = findSuperseded(events)
  const untouchable = findUntouchable(input)
  const present = new Set(messages.map((message) => message.id))
  const decisions = new Map<string, PruneDecision>()

  for (const [index, message] of messages.entries()) {
    const age = messages.length - 1 - index
    if (age < settings.keepLastN) break
    const again = alreadyPruned.has(message.id)
    if (untouchable.has(message.id) || (again && !input.condensed?.has(message.id))) continue
    const event = eventOf.get(message.id) ?? null
    const supersededBy = superseded.get(message.id) ?? null
    const verdict = firstVerdict({ message, age, event, supersededBy, settings })
    if (verdict === null || (again && verdict.action === 'condense')) continue
    for (const decision of carryOut(verdict, message, event, { input, untouchable, present }))
      decisions.set(decision.messageId, decision)
  }
  return messages.flatMap((message) => decisions.get(message.id) ?? [])
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
    return ifShorter({ messageId: message.id, action: 'condense', text, reason, archive })
  }
  const caller = removableCaller(event, surroundings)
  if (caller === null) {
    // An error text is useful, unless it makes the stub longer than the result.
    const texts = [stubLine(reason, parts), stubLine(reason, { ...parts, summary: '' })].map(withLines)
    const stubs = texts.flatMap((text) => ifShorter({ messageId: message.id, action: 'stub', text, reason, archive }))
    return stubs.slice(0, 1)
  }
  return [
    { messageId: caller.id, action: 'remove', text: '', reason, archive: archiveOfCall(caller, input.catalog) },
    { messageId: message.id, action: 'remove', text: '', reason, archive },
  ]
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
