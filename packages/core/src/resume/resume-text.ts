import type { ToolCall } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import { messageReference, recallTag } from '../conversation/references.js'
import { pairToolCalls, type ToolPairs } from '../conversation/turns.js'
import { summarizeConversation } from '../extractive/extractive.js'
import { finish, type Pausable } from '../recall/steps.js'
import { standingInstructions } from '../search/instructions/index.js'
import type { SummarySource } from '../speech/source.js'
import { userSpeechIn } from '../speech/user-speech.js'
import { summarySources } from '../summarizing/sources.js'
import { describeToolCall, type ToolUse } from '../tools/catalog.js'
import { oneLine, sliceWhole } from '../tools/lines.js'
import { fileLedger, ledgerLine, sharedRoot } from './file-ledger.js'
import { openTasks } from './open-tasks.js'

/** Characters that Claude Code accepts as an `additionalContext` (docs/claude-code.md#after-a-compaction). */
export const RESUME_CHARACTERS_MAX = 10_000

const INTRO =
  'Heddle recorded this session. Below is what was said and done so far, from that record. Names such as msg-1a2b3c4d are references: the recall tool of the heddle server returns the whole text behind one.'

/** Each section's characters at most; what one leaves, the summary at the end gets. */
const SHARES = { constraints: 2_000, requests: 2_600, next: 1_000, files: 2_800, outputs: 1_200 } as const
/** Of the heading that a share includes. */
const HEADING_CHARACTERS_MAX = 60
const CONSTRAINT_CHARACTERS_MAX = 800
const REQUEST_CHARACTERS_MAX = 1_600
const OUTPUT_CHARACTERS_MIN = 600
const OUTPUT_NAME_CHARACTERS_MAX = 40
const LAST_WORDS_CHARACTERS_MAX = 400
const SUMMARY_CHARACTERS_PER_TOKEN = 3.5
const MESSAGES_A_STEP = 32
/** Sections of the summary that the text has already. */
const TOLD = /^## (?:Goal|Requests and requirements|Files)$/

/**
 * The text with which an agent goes on after its context was compacted, most important first: pinned constraints, the last requests
 * word for word, what was next, the ledger of files, and a summary of the rest.
 *
 * @param messages in conversation order, pinned as they are now
 * @returns at most {@link RESUME_CHARACTERS_MAX} characters; empty if nothing was said
 */
export function resumeText(messages: readonly Message[], charactersMax = RESUME_CHARACTERS_MAX): string {
  return finish(resumeTextInSteps(messages, charactersMax))
}

/** The same, yielding after a few milliseconds of work at most for messages of usual lengths. */
export function* resumeTextInSteps(
  messages: readonly Message[],
  charactersMax = RESUME_CHARACTERS_MAX,
): Pausable<string> {
  const said = messages.filter(({ keptAside }) => keptAside === null)
  const pairs = pairToolCalls(said)
  const requests = said.flatMap((message) => requestOf(message))
  const useOf = describedOnce()
  if (said.length === 0) return ''
  const text = new Composer(charactersMax, INTRO)
  text.add('Standing constraints', constraintsOf(said, requests), SHARES.constraints)
  yield
  text.add('Last requests, word for word, oldest first', lastRequests(requests), SHARES.requests)
  yield
  text.add('Next steps', nextOf(said, pairs), SHARES.next)
  yield
  text.add('Files, last used first', ledgerOf(said, pairs, useOf), SHARES.files)
  yield
  text.add('Longest outputs of commands and searches', longestOutputs(said, pairs, useOf), SHARES.outputs)
  yield
  text.addWhole(yield* summaryOf(said, pairs, text.left))
  return text.toString()
}

/** Several sections describe the same calls. */
function describedOnce(): (call: ToolCall) => ToolUse {
  const uses = new Map<ToolCall, ToolUse>()
  return (call) => {
    const use = uses.get(call) ?? describeToolCall(call)
    uses.set(call, use)
    return use
  }
}

interface Request {
  readonly message: Message
  readonly text: string
  readonly reference: string
}

function requestOf(message: Message): Request[] {
  if (message.role !== 'user') return []
  const text = userSpeechIn(message.content)
  return text === '' ? [] : [{ message, text, reference: recallTag(messageReference(message.code)) }]
}

function constraintsOf(messages: readonly Message[], said: readonly Request[]): string[] {
  const pinned = messages.flatMap((message) => {
    if (!message.pinned) return []
    const words = message.content === '' ? JSON.stringify(message.toolCalls) : message.content
    return [`- ${cut(words, CONSTRAINT_CHARACTERS_MAX)} ${recallTag(messageReference(message.code))}`]
  })
  const standing = standingInstructions(said.map(({ text }) => ({ text, thread: '', user: null })))
  const lasting = standing.flatMap(({ sentence, saidIn, endedIn }) => {
    const from = said[saidIn]
    if (from === undefined || from.message.pinned || endedIn !== null) return []
    return [`- ${oneLine(sentence)} ${from.reference}`]
  })
  return [...pinned, ...new Set(lasting.reverse())]
}

/** The newest ones, as far as they fit. */
function lastRequests(requests: readonly Request[]): string[] {
  const lines: string[] = []
  let left = SHARES.requests - HEADING_CHARACTERS_MAX
  for (const { text, reference } of requests.toReversed()) {
    const line = `- ${cut(text, REQUEST_CHARACTERS_MAX)} ${reference}`
    if (line.length > left) break
    lines.unshift(line)
    left -= line.length + 1
  }
  return lines
}

function nextOf(messages: readonly Message[], pairs: ToolPairs): string[] {
  const last = messages.findLast(({ role, content }) => role === 'assistant' && content.trim() !== '')
  const words =
    last === undefined ? [] : [`- The assistant said last: ${oneLine(last.content, LAST_WORDS_CHARACTERS_MAX)}`]
  return [...openTasks(messages, pairs).map((task) => `- ${task}`), ...words]
}

function ledgerOf(messages: readonly Message[], pairs: ToolPairs, useOf: (call: ToolCall) => ToolUse): string[] {
  const files = fileLedger(messages, pairs, useOf)
  const cwd = messages.findLast((message) => typeof message.cwd === 'string')?.cwd ?? null
  const root = cwd === null ? sharedRoot(files.map(({ path }) => path)) : `${cwd}/`
  return [...(root === '' ? [] : [`- Paths are below ${root}`]), ...files.map((file) => ledgerLine(file, root))]
}

function longestOutputs(messages: readonly Message[], pairs: ToolPairs, useOf: (call: ToolCall) => ToolUse): string[] {
  const outputs = messages.flatMap((message) => {
    const call = pairs.byResult.get(message.id)?.call
    if (call === undefined || message.content.length < OUTPUT_CHARACTERS_MIN) return []
    const { kind, command, pattern } = useOf(call)
    if (kind === 'file_view' || kind === 'edit') return []
    const words = oneLine(command ?? pattern ?? '', OUTPUT_NAME_CHARACTERS_MAX)
    return [{ line: `- ${[call.name, words].filter(Boolean).join(' ')}: ${messageReference(message.code)}`, message }]
  })
  return outputs
    .sort((left, right) => right.message.content.length - left.message.content.length)
    .map(({ line }) => line)
}

function* summaryOf(messages: readonly Message[], pairs: ToolPairs, charactersMax: number): Pausable<string> {
  const tokensMax = Math.floor(charactersMax / SUMMARY_CHARACTERS_PER_TOKEN)
  if (tokensMax < 100) return ''
  const sources: SummarySource[] = []
  for (let from = 0; from < messages.length; from += MESSAGES_A_STEP) {
    const some = messages.slice(from, from + MESSAGES_A_STEP)
    sources.push(...summarySources(some, pairs, ({ code }) => messageReference(code)))
    yield
  }
  const request = { purpose: 'compaction', messages: sources, previousSummary: null, tokensMax } as const
  const summary = yield* summarizeConversation(request)
  const sections = summary.split('\n\n').filter((section) => !TOLD.test(section.split('\n', 1)[0] ?? ''))
  return sections.join('\n\n')
}

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${sliceWhole(text, charactersMax)} …`
}

/** Puts sections together within a number of characters. */
class Composer {
  readonly #blocks: string[]
  #left: number

  constructor(charactersMax: number, intro: string) {
    this.#blocks = [intro]
    this.#left = charactersMax - intro.length
  }

  get left(): number {
    return Math.max(0, this.#left - 2)
  }

  /** Whole lines from the first on, as far as they fit. */
  add(heading: string, lines: readonly string[], charactersMax: number): void {
    let block = `## ${heading}`
    const max = Math.min(charactersMax, this.left)
    for (const line of lines) {
      if (block.length + 1 + line.length <= max) block += `\n${line}`
    }
    if (block.includes('\n')) this.#push(block)
  }

  addWhole(text: string): void {
    let shown = text
    while (shown.length > this.left) shown = shown.slice(0, Math.max(0, shown.lastIndexOf('\n', this.left)))
    if (shown !== '') this.#push(shown)
  }

  toString(): string {
    return this.#blocks.join('\n\n')
  }

  #push(block: string): void {
    this.#blocks.push(block)
    this.#left -= block.length + 2
  }
}
