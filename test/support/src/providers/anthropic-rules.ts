import { anthropicBlockFaults } from './anthropic-blocks.js'
import { type Fields, isBroken, isFields, isFilled, listOf, repeatedIn } from './fields.js'

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/
const CACHE_MARKS_MAX = 4

interface Turn {
  readonly role: unknown
  readonly blocks: readonly Fields[]
}

/**
 * Faults for which Anthropic's Messages API refuses a request, from its reference and its error messages (read 2026-11). Unlike the
 * validator of contexts it accepts everything that the API accepts: repeated roles, which the API merges, blocks of server tools,
 * tools and cache marks.
 */
export function anthropicRequestFaults(body: unknown): string[] {
  if (!isFields(body)) return ['the body is not an object']
  const { model, max_tokens: tokensMax, messages } = body
  const faults: string[] = []
  if (!isFilled(model)) faults.push('model: field required')
  if (!Number.isInteger(tokensMax) || Number(tokensMax) < 1) faults.push('max_tokens: field required')
  if (isBroken(body)) faults.push('the body holds half of a surrogate pair')
  faults.push(...systemFaults(body['system']), ...toolFaults(body), ...markFaults(body))
  if (!Array.isArray(messages) || messages.length === 0)
    return [...faults, 'messages: at least one message is required']
  return [...faults, ...messageFaults(body), ...turnFaults(turnsOf(messages))]
}

function systemFaults(system: unknown): string[] {
  if (system === undefined || typeof system === 'string') return []
  if (!Array.isArray(system)) return ['system: input should be a text or a list of text blocks']
  const isSound = listOf(system).every(({ type, text }) => type === 'text' && isFilled(text))
  return isSound ? [] : ['system: text content blocks must be non-empty']
}

function toolFaults(body: Fields): string[] {
  const tools = listOf(body['tools'])
  const names = tools.map(({ name }) => String(name))
  const isUsed = listOf(body['messages']).some(({ content }) => listOf(content).some(({ type }) => type === 'tool_use'))
  return [
    ...names
      .filter((name) => !TOOL_NAME.test(name))
      .map((name) => `tools: the name ${name} does not match the pattern`),
    ...repeatedIn(names).map((name) => `tools: tool names must be unique, ${name} is not`),
    ...tools
      .filter(({ type, input_schema: schema }) => (type === undefined || type === 'custom') && !isFields(schema))
      .map(({ name }) => `tools: ${String(name)} has no input_schema`),
    ...(isUsed && tools.length === 0 ? ['tools: requests with `tool_use` blocks must define tools'] : []),
  ]
}

/** "A maximum of 4 blocks with cache_control may be provided"; marks of an hour come before those of five minutes. */
function markFaults(body: Fields): string[] {
  const blocks = [
    ...listOf(body['tools']),
    ...listOf(body['system']),
    ...listOf(body['messages']).flatMap(({ content }) =>
      listOf(content).flatMap((block) =>
        block['type'] === 'tool_result' ? [...listOf(block['content']), block] : [block],
      ),
    ),
  ].filter(({ cache_control: mark }) => mark !== undefined && mark !== null)
  const marks = blocks.map(({ cache_control: mark }) => (isFields(mark) ? mark : {}))
  const times = marks.map(({ ttl }) => ttl ?? '5m')
  return [
    ...(blocks.length > CACHE_MARKS_MAX
      ? [`a maximum of 4 blocks with cache_control may be provided, found ${blocks.length}`]
      : []),
    ...(marks.every(({ type }) => type === 'ephemeral') ? [] : ['cache_control.type must be ephemeral']),
    ...(times.every((ttl) => ttl === '5m' || ttl === '1h') ? [] : ['cache_control.ttl must be 5m or 1h']),
    ...(times.lastIndexOf('1h') > times.indexOf('5m') && times.includes('5m')
      ? ["a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"]
      : []),
    ...(blocks.some(({ type }) => type === 'thinking' || type === 'redacted_thinking')
      ? ['thinking blocks cannot have cache_control']
      : []),
    ...(blocks.some(({ type, text }) => type === 'text' && text === '')
      ? ['cache_control cannot be set for empty text blocks']
      : []),
  ]
}

function messageFaults(body: Fields): string[] {
  // Models that decide by themselves how long to think do so between their texts and calls, too.
  const { thinking } = body
  const isAdaptive = isFields(thinking) && thinking['type'] === 'adaptive'
  return listOf(body['messages']).flatMap(({ role, content }, index, messages) => {
    const report = (rules: readonly string[]) => rules.map((rule) => `messages.${index}: ${rule}`)
    const isFinal = index === messages.length - 1
    const blocks = blocksOf(content)
    if (role !== 'user' && role !== 'assistant') return report([`role: unexpected ${String(role)}`])
    if (typeof content !== 'string' && !Array.isArray(content)) return report(['content: field required'])
    if (blocks.length === 0 && !(isFinal && role === 'assistant'))
      return report(['all messages must have non-empty content except for the optional final assistant message'])
    return report([
      ...blocks.flatMap((block) => anthropicBlockFaults(block, role)),
      ...(role === 'assistant' ? answerFaults(blocks, { isFinal, isAdaptive }) : []),
    ])
  })
}

function answerFaults(
  blocks: readonly Fields[],
  { isFinal, isAdaptive }: { isFinal: boolean; isAdaptive: boolean },
): string[] {
  const isThinking = (block: Fields | undefined) =>
    block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking'
  // Reasoning goes on after the result of a server's tool, and after a compaction by the provider.
  const isLate = (block: Fields, index: number) => {
    const before = blocks[index - 1]
    return (
      isThinking(block) &&
      before !== undefined &&
      !isThinking(before) &&
      !/_result$|^compaction$/.test(String(before['type']))
    )
  }
  const last = blocks.at(-1)
  return [
    ...(!isAdaptive && blocks.some(isLate) ? ['thinking blocks must come first'] : []),
    ...(isThinking(last) ? ['the final block in an assistant message cannot be `thinking`'] : []),
    ...(isFinal && last?.['type'] === 'text' && /\s$/.test(String(last['text']))
      ? ['final assistant content cannot end with trailing whitespace']
      : []),
  ]
}

/** Consecutive messages of one role are one turn for the model. */
function turnsOf(messages: readonly unknown[]): Turn[] {
  const turns: { role: unknown; blocks: Fields[] }[] = []
  for (const { role, content } of listOf(messages)) {
    const last = turns.at(-1)
    if (last?.role === role) last?.blocks.push(...blocksOf(content))
    else turns.push({ role, blocks: [...blocksOf(content)] })
  }
  return turns
}

export function blocksOf(content: unknown): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
}

function turnFaults(turns: readonly Turn[]): string[] {
  const faults: string[] = []
  if (turns[0]?.role !== 'user') faults.push('messages: first message must use the "user" role')
  const ids = turns.flatMap(({ blocks }) => idsOf(blocks, 'tool_use', 'id'))
  faults.push(...repeatedIn(ids).map((id) => `\`tool_use\` ids must be unique, ${id} is not`))
  let awaited: string[] = []
  for (const { blocks, role } of turns) {
    const results = idsOf(blocks, 'tool_result', 'tool_use_id')
    const first = blocks.findIndex(({ type }) => type !== 'tool_result')
    if (results.length > 0 && first >= 0 && first < results.length)
      faults.push('`tool_result` blocks must come first in the message after their calls')
    for (const id of awaited.filter((id) => !results.includes(id)))
      faults.push(`\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}`)
    for (const id of results.filter((id) => !awaited.includes(id)))
      faults.push(`unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`)
    for (const id of repeatedIn(results)) faults.push(`each tool_use must have a single result: ${id}`)
    awaited = role === 'assistant' ? idsOf(blocks, 'tool_use', 'id') : []
    faults.push(...serverToolFaults(blocks))
  }
  for (const id of awaited)
    faults.push(`\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}`)
  return faults
}

/** The result of a server's tool follows in the same turn; only a paused turn ends with the call. */
function serverToolFaults(blocks: readonly Fields[]): string[] {
  const isCall = ({ type }: Fields) => type === 'server_tool_use' || type === 'mcp_tool_use'
  const isResult = ({ type }: Fields) => /_tool_result$/.test(String(type))
  return blocks.flatMap((block, index) => {
    const id = String(block[isCall(block) ? 'id' : 'tool_use_id'])
    if (isCall(block) && index < blocks.length - 1) {
      const isAnswered = blocks.slice(index + 1).some((later) => isResult(later) && later['tool_use_id'] === id)
      return isAnswered ? [] : [`\`${String(block['type'])}\` was found without its result: ${id}`]
    }
    if (!isResult(block)) return []
    const isCalled = blocks.slice(0, index).some((before) => isCall(before) && before['id'] === id)
    return isCalled ? [] : [`unexpected \`tool_use_id\` found in \`${String(block['type'])}\`: ${id}`]
  })
}

function idsOf(blocks: readonly Fields[], wanted: string, field: string): string[] {
  return blocks.filter(({ type }) => type === wanted).map((block) => String(block[field]))
}
