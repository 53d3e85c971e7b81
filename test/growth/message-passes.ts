import {
  atomKinds,
  defaultSettings,
  type FormatName,
  formats,
  HeddleError,
  type MessageInput,
  messageInputSchema,
  parse,
} from '@heddle/contracts'
import {
  AtomCollector,
  agentTexts,
  besideRendered,
  buildContext,
  countMessageTokens,
  countNeutralMessage,
  countTokens,
  decidePrunings,
  diffContexts,
  estimateMessageTokens,
  estimateTokens,
  fatesOf,
  finish,
  formatFaults,
  fromDelta,
  fromLines,
  fromRendered,
  gateSummary,
  type Message,
  messageFingerprint,
  messageReference,
  type NeutralMessage,
  nameTexts,
  pairToolCalls,
  pinnedFacts,
  readConversation,
  render,
  renderedParts,
  searchDocument,
  snapshotText,
  speakerText,
  summarizeExtractively,
  summarySources,
  ThreadTexts,
  toDelta,
  toLines,
  toolCatalogOf,
  toSnapshotMessage,
  withPinnedFacts,
} from '@heddle/core'
import { sampleMessage } from '@heddle/test-support/samples/conversations'
import { sampleInput } from '@heddle/test-support/samples/sample-input'
import { partText } from '../../packages/core/src/summarizing/fold.js'
import { cutLeaves, leafHash } from '../../packages/core/src/tree/leaves.js'
import { measure, split } from '../../packages/engine/src/messages/split-append.js'
import { redactedText } from '../../packages/models/src/summarize/fold-text.js'
import type { Pass } from './measure.js'

type Conversation = (text: string) => Message[]

/** The text in one message among many; their number grows with the text. */
const PART_CHARACTERS = 130
const CALLS_MAX = 256
const catalog = toolCatalogOf([])
const reference = ({ code }: Pick<Message, 'code'>) => messageReference(code)

function numbered(messages: readonly Partial<Message>[]): Message[] {
  return messages.map((message, index) => sampleMessage({ seq: index + 1, ...message }))
}

/** Turns after the text, so that every rule treats it as old. */
const later = Array.from({ length: 14 }, (_, index) => ({
  role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `Then step ${index}.`,
}))

function called(name: string, given: Record<string, unknown> | string, content: string) {
  return [
    { role: 'assistant' as const, content: '', toolCalls: [{ id: 'call-1', name, arguments: given as never }] },
    { role: 'tool_result' as const, toolCallId: 'call-1', toolName: name, content },
  ]
}

/** Texts of the same length, `countMax` at most. */
function cutInto(text: string, countMax = Number.POSITIVE_INFINITY): string[] {
  const length = Math.max(PART_CHARACTERS, Math.ceil(text.length / countMax))
  const parts: string[] = []
  for (let from = 0; from < text.length; from += length) parts.push(text.slice(from, from + length))
  return parts.length === 0 ? [''] : parts
}

const begin = { role: 'user' as const, content: 'Please fix the parser.' }

/** The places of a text in a conversation. */
export const conversations: Readonly<Record<string, Conversation>> = {
  'a user says it': (text) => numbered([{ role: 'user', content: text }, ...later]),
  'an assistant says it': (text) => numbered([begin, { role: 'assistant', content: text }, ...later]),
  'a pin says it': (text) => numbered([{ role: 'user', content: text, pinned: true }, ...later]),
  'an assistant thinks it': (text) =>
    numbered([begin, { role: 'assistant', content: 'Yes.', thinking: [{ text, signature: 's' }] }, ...later]),
  'a view shows it': (text) => numbered([begin, ...called('Read', { file_path: 'src/app.ts' }, text), ...later]),
  'a command prints it': (text) => numbered([begin, ...called('Bash', { command: 'npm test' }, text), ...later]),
  'a search finds it': (text) => numbered([begin, ...called('Grep', { pattern: 'name' }, text), ...later]),
  'an unknown tool gives it': (text) => numbered([begin, ...called('lookup', { key: 'a' }, text), ...later]),
  'a tool fails with it': (text) =>
    numbered([
      begin,
      ...called('Bash', { command: 'npm test' }, text).map((message) => ({
        ...message,
        isError: message.role === 'tool_result',
      })),
      ...later,
    ]),
  'it is run as a command': (text) => numbered([begin, ...called('Bash', { command: text }, 'ok'), ...later]),
  'it is written to a file': (text) =>
    numbered([begin, ...called('Write', { file_path: 'src/app.ts', content: text }, 'ok'), ...later]),
  'it is edited': (text) => {
    const middle = text.length / 2
    const edit = { file_path: 'docs/app.md', old_string: text.slice(0, middle), new_string: text.slice(middle) }
    return numbered([begin, ...called('Edit', edit, 'ok'), ...later])
  },
  'it is a patch': (text) => numbered([begin, ...called('apply_patch', { input: text }, 'ok'), ...later]),
  'it is the text of arguments': (text) => numbered([begin, ...called('Bash', text, 'ok'), ...later]),
  'it is the name of a file': (text) => numbered([begin, ...called('Read', { file_path: text }, 'ok'), ...later]),
  'a plan asks for it': (text) => numbered([{ role: 'user', content: `# Plan\n\n## Goal\n${text}` }, ...later]),
  'many messages say it': (text) =>
    numbered(cutInto(text).map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))),
  'one user says it in many messages': (text) => numbered(cutInto(text).map((content) => ({ role: 'user', content }))),
  'many commands': (text) =>
    numbered([
      begin,
      ...cutInto(text).flatMap((command, index) => [
        {
          role: 'assistant' as const,
          content: '',
          toolCalls: [{ id: `call-${index}`, name: 'Bash', arguments: { command } }],
        },
        { role: 'tool_result' as const, toolCallId: `call-${index}`, toolName: 'Bash', content: command },
      ]),
    ]),
  'many edits of many files': (text) =>
    numbered([
      begin,
      ...cutInto(text).flatMap((part, index) => [
        {
          role: 'assistant' as const,
          content: part,
          toolCalls: [
            {
              id: `call-${index}`,
              name: 'Edit',
              arguments: { file_path: `src/file-${index}.ts`, old_string: part, new_string: `${part}x` },
            },
          ],
        },
        { role: 'tool_result' as const, toolCallId: `call-${index}`, toolName: 'Edit', content: 'ok' },
      ]),
    ]),
  'many views of one file': (text) =>
    numbered([
      begin,
      ...cutInto(text).flatMap((part, index) => [
        {
          role: 'assistant' as const,
          content: '',
          toolCalls: [
            { id: `call-${index}`, name: 'Read', arguments: { file_path: 'src/app.ts', offset: index * 3, limit: 3 } },
          ],
        },
        { role: 'tool_result' as const, toolCallId: `call-${index}`, toolName: 'Read', content: part },
      ]),
    ]),
  'one message with many calls': (text) => {
    const parts = cutInto(text, CALLS_MAX)
    const toolCalls = parts.map((command, index) => ({
      id: `call-${index}`,
      name: index % 2 === 0 ? 'Bash' : 'Write',
      arguments: { command, file_path: `f${index}.ts`, content: command },
    }))
    const results = parts.map((content, index) => ({
      role: 'tool_result' as const,
      toolCallId: `call-${index}`,
      content,
    }))
    return numbered([begin, { role: 'assistant', content: '', toolCalls }, ...results, ...later])
  },
}

const ofConversation =
  (conversation: Conversation, run: (messages: Message[]) => unknown): Pass =>
  (text) => {
    const messages = conversation(text)
    const prepared = () => {
      try {
        return run(messages)
      } catch (error) {
        // A refusal of the text ends the pass; its time until then counts.
        if (error instanceof HeddleError) return undefined
        throw error
      }
    }
    return Object.assign(prepared, { givenBytes: Buffer.byteLength(JSON.stringify(messages)) })
  }

function neutral(messages: readonly Message[]): NeutralMessage[] {
  return messages.map(({ role, content, toolCalls, toolCallId, toolName, isError, thinking }) => ({
    role: role === 'tool_use' || role === 'error' || role === 'approval' ? 'assistant' : role,
    content,
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(toolCallId !== null && { toolCallId }),
    ...(toolName !== null && { toolName }),
    ...(isError && { isError }),
    ...(thinking.length > 0 && { thinking }),
  }))
}

function inputOf({ id, role, content, toolCalls, toolCallId, thinking }: Message): MessageInput {
  return {
    id,
    role,
    content,
    ...(toolCalls.length > 0 && { toolCalls: [...toolCalls] }),
    ...(toolCallId !== null && { toolCallId }),
    ...(thinking.length > 0 && { thinking: [...thinking] }),
  }
}

function sourcesOf(messages: readonly Message[]) {
  return summarySources(messages, pairToolCalls(messages), reference)
}

const BUDGET = 20_000

function contextOf(messages: readonly Message[], format: FormatName) {
  const input = sampleInput({ messages, format, reference, count: estimateTokens }, { budget: BUDGET })
  return buildContext(input)
}

function formatPasses(format: FormatName): Record<string, (messages: Message[]) => unknown> {
  return {
    [`context in ${format}`]: (messages) => contextOf(messages, format),
    [`${format} rendered and read back`]: (messages) => {
      const given = neutral(messages)
      const rendered = render(format, given)
      return [formatFaults(format, rendered), fromRendered(format, rendered, besideRendered(format, given))]
    },
    [`${format} counted`]: (messages) =>
      neutral(messages).map((one) => countNeutralMessage(format, one, estimateTokens)),
    [`${format} in pieces`]: (messages) => renderedParts(render(format, neutral(messages)), estimateTokens),
  }
}

const lines = (messages: readonly Message[]) => {
  const context = { id: 'context', ...contextOf(messages, 'neutral') }
  const agent = { systemPrompt: 'You write code.', docs: [] }
  const named = new ThreadTexts()
  named.update(messages)
  const names = nameTexts(named, agent, {})
  const written = toLines(context, names, (text) => text.includes('nobody'))
  const delta = toDelta(written, written.lines.slice(1))
  const texts = new Map([...named.names].map(([text, name]) => [name, text]))
  for (const [index, text] of agentTexts(agent).entries()) texts.set(`a${index}`, text)
  return fromLines({ ...fromDelta(delta, written.lines.slice(1)), hidden: written.hidden }, (name) => texts.get(name))
}

const passes: Readonly<Record<string, (messages: Message[]) => unknown>> = {
  conversation: readConversation,
  'pairs of calls': pairToolCalls,
  'tokens counted': (messages) => messages.map((message) => countMessageTokens(message, countTokens)),
  'tokens estimated': (messages) => messages.map(estimateMessageTokens),
  fingerprints: (messages) => messages.map((message) => messageFingerprint(inputOf(message))),
  'inputs checked': (messages) => messages.map((message) => parse(messageInputSchema, inputOf(message), 'message')),
  jobs: (messages) =>
    split(
      messages.map((message, index) =>
        measure({ message: inputOf(message), ordinal: index, orderedAt: '2026-01-01T00:00:00.000Z' }, 'messages.0'),
      ),
    ),
  'words of messages': (messages) => {
    const { byResult } = pairToolCalls(messages)
    return messages.map((message) => searchDocument(message, { call: byResult.get(message.id)?.call ?? null, catalog }))
  },
  'decisions of pruning': (messages) =>
    decidePrunings({
      messages,
      pairs: pairToolCalls(messages),
      settings: defaultSettings.prune,
      alreadyPruned: new Set(),
      reference,
    }),
  'sources of a summary': sourcesOf,
  'words said': (messages) => speakerText(sourcesOf(messages)),
  'extractive summary': (messages) =>
    summarizeExtractively({
      purpose: 'compaction',
      messages: sourcesOf(messages),
      previousSummary: null,
      tokensMax: 2_000,
    }),
  'short extractive summary': (messages) =>
    summarizeExtractively({
      purpose: 'compaction',
      messages: sourcesOf(messages),
      previousSummary: null,
      tokensMax: 60,
    }),
  'summary of a summary': (messages) =>
    summarizeExtractively({
      purpose: 'compaction',
      messages: sourcesOf(messages.slice(-3)),
      previousSummary: messages.map(({ content }) => content).join('\n'),
      tokensMax: 2_000,
    }),
  'text for a model': (messages) => redactedText(sourcesOf(messages), 8_000),
  'part of a text for a model': (messages) => partText(sourcesOf(messages), 8_000),
  'pinned facts': (messages) => {
    const facts = pinnedFacts(sourcesOf(messages))
    return withPinnedFacts(messages.map(({ content }) => content).join('\n'), facts, 2_000)
  },
  'details and their fates': (messages) => {
    const collector = new AtomCollector()
    finish(collector.add(sourcesOf(messages)))
    const shown = {
      summary: messages[0]?.content ?? '',
      messages: messages.map(({ content }) => ({ text: content, isPinned: false })),
    }
    return finish(fatesOf(collector.result(), shown))
  },
  'details added to a summary': (messages) => {
    const collector = new AtomCollector()
    finish(collector.add(sourcesOf(messages)))
    const request = { atoms: collector.result(), repair: new Set(atomKinds), last: 'msg-00000000' }
    return finish(gateSummary({ ...request, summary: 'They worked.', tokensMax: 2_000 }))
  },
  'leaves of the tree': (messages) => {
    const shape = { leafTokens: 2_000, fanOut: 8 }
    return cutLeaves(readConversation(messages).messages, shape).leaves.map((leaf) => leafHash(leaf, shape))
  },
  'context stored and read back': lines,
  'contexts compared': (messages) => {
    const before = { id: 'before', ...contextOf(messages.slice(0, -1), 'neutral') }
    return finish(diffContexts(before, { id: 'after', ...contextOf(messages, 'neutral') }))
  },
  snapshot: (messages) => [
    ...snapshotText({
      messages: messages.map((message) => toSnapshotMessage('thread', { ...message, sourceId: null, metadata: null })),
    } as never),
  ],
}

/** Places that a format may treat differently; it does not distinguish tools by name, kind or age of a view. */
const placesOfFormats = new Set([
  'a user says it',
  'an assistant thinks it',
  'a tool fails with it',
  'it is run as a command',
  'it is the text of arguments',
  'many messages say it',
  'one user says it in many messages',
  'many commands',
  'one message with many calls',
])
const passesOfFormats: typeof passes = Object.assign({}, ...formats.map(formatPasses))

/** Every pass over messages, for every place of a text in them. */
export const messagePasses: Readonly<Record<string, Pass>> = Object.fromEntries(
  Object.entries(conversations).flatMap(([place, conversation]) =>
    Object.entries({ ...passes, ...(placesOfFormats.has(place) && passesOfFormats) }).map(
      ([name, run]) => [`${name}, where ${place}`, ofConversation(conversation, run)] as const,
    ),
  ),
)
