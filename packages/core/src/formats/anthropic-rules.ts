import { CACHE_MARKS_MAX } from './anthropic-cache.js'
import type { Rendered } from './format.js'
import { BROKEN_TEXT, FaultList, fieldsIn, hasBrokenText, isFields, isMediaText, isText, OpenCalls } from './rules.js'
import { isBlank } from './texts.js'

const CALL_ID = /^[a-zA-Z0-9_-]+$/
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/

type Block = Readonly<Record<string, unknown>>

/**
 * Faults that Anthropic's Messages API refuses: turns that do not alternate, results that are not at the start of the
 * turn after their calls, reasoning that is incomplete or not first, texts without a visible character, more than four
 * cache marks.
 */
export function anthropicFaults({ system, messages }: Rendered): string[] {
  const faults = new FaultList()
  const calls = new OpenCalls()
  if (typeof system === 'string') faults.add('the system prompt is a text instead of a list of blocks')
  else if (system?.some(({ text }) => isBlank(text) || !text.isWellFormed()))
    faults.add('a block of the system prompt is blank or broken')
  if (messages.length === 0) faults.add('the list is empty')
  for (const [index, message] of messages.entries()) {
    const report = (rule: string | null) => faults.at(index, rule)
    const { role, content } = message
    if (role !== 'user' && role !== 'assistant') report('has an unknown role')
    if (role === (index === 0 ? 'assistant' : messages[index - 1]?.['role']))
      report('does not alternate, starting with a user')
    if (hasBrokenText(content)) report(BROKEN_TEXT)
    const blocks = fieldsIn(content)
    if (blocks.length === 0) report('has no blocks')
    checkResults(blocks, calls, report)
    for (const block of blocks) checkBlock(block, role, calls, report)
    if (role === 'assistant') checkAnswer(blocks, index === messages.length - 1, report)
  }
  if (calls.size > 0) faults.add(`the list ends with ${calls.size} open calls`)
  const blocks: Block[] = [
    ...(Array.isArray(system) ? system : []),
    ...messages.flatMap(({ content }) => fieldsIn(content)),
  ]
  const marks = blocks.filter((block) => block['cache_control'] !== undefined).length
  if (marks > CACHE_MARKS_MAX) faults.add(`${marks} cache marks exceed the limit of ${CACHE_MARKS_MAX}`)
  return faults.all
}

/** All results of the previous turn's calls come first, and there are no other results. */
function checkResults(blocks: readonly Block[], calls: OpenCalls, report: (rule: string | null) => void): void {
  const first = blocks.findIndex(({ type }) => type !== 'tool_result')
  for (const block of first < 0 ? blocks : blocks.slice(0, first)) report(calls.answer(block['tool_use_id']))
  if (first >= 0 && blocks.slice(first).some(({ type }) => type === 'tool_result'))
    report('has a result after other blocks')
  report(calls.close())
}

function checkBlock(block: Block, role: unknown, calls: OpenCalls, report: (rule: string | null) => void): void {
  switch (block['type']) {
    case 'text':
      if (!isText(block['text']) || isBlank(block['text'])) report('has a text without a visible character')
      break
    case 'thinking':
      if (
        role !== 'assistant' ||
        !isText(block['thinking']) ||
        !isText(block['signature']) ||
        block['signature'] === ''
      )
        report('has reasoning without its signature')
      break
    case 'redacted_thinking':
      if (role !== 'assistant' || !isText(block['data']) || block['data'] === '')
        report('has encrypted reasoning without its data')
      break
    case 'tool_use':
      if (role !== 'assistant') report('has calls but is not an assistant message')
      report(calls.open(block['id'], CALL_ID))
      if (!isText(block['name']) || !TOOL_NAME.test(block['name']))
        report('calls a tool with a name that the provider refuses')
      if (!isFields(block['input'])) report('has arguments that are not an object')
      break
    case 'image':
    case 'document':
      if (role !== 'user' || !isMedia(block)) report('has an image or a document that the provider refuses')
      break
    case 'tool_result':
      if (role !== 'user') report('has a result but is not a user message')
      if (Array.isArray(block['content']) && !fieldsIn(block['content']).every(isResultPart))
        report('has a result with a part that the provider refuses')
      if (block['is_error'] === true && (!isText(block['content']) || isBlank(block['content'])))
        report('has an error without a text')
      break
    default:
      report('has a block of an unknown type')
  }
}

const IMAGE_TYPES: readonly unknown[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

function isMedia({ type, source }: Block): boolean {
  if (!isFields(source)) return false
  if (source['type'] === 'url') return isMediaText(source['url'])
  const mediaType = source['media_type']
  const isKnown = type === 'image' ? IMAGE_TYPES.includes(mediaType) : mediaType === 'application/pdf'
  return source['type'] === 'base64' && isKnown && isMediaText(source['data'])
}

function isResultPart(part: Block): boolean {
  if (part['type'] === 'text') return isText(part['text']) && !isBlank(part['text'])
  return (part['type'] === 'image' || part['type'] === 'document') && isMedia(part)
}

function checkAnswer(blocks: readonly Block[], isFinal: boolean, report: (rule: string) => void): void {
  const isReasoning = ({ type }: Block) => type === 'thinking' || type === 'redacted_thinking'
  const first = blocks.findIndex((block) => !isReasoning(block))
  if (first < 0) report('ends with reasoning')
  else if (blocks.slice(first).some(isReasoning)) report('has reasoning after other blocks')
  const last = blocks.at(-1)?.['text']
  if (isFinal && isText(last) && /\s$/.test(last)) report('ends with white space, which the model cannot continue')
}
