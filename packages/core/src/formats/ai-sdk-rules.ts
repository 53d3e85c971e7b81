import type { Rendered } from './format.js'
import {
  BROKEN_TEXT,
  FaultList,
  type Fields,
  fieldsIn,
  hasBrokenText,
  isFields,
  isMediaText,
  isText,
  OPENAI_CALL_ID,
  OPENAI_NAME,
  OpenCalls,
} from './rules.js'
import { isBlank } from './texts.js'

type Report = (rule: string | null) => void

/**
 * Faults that the AI SDK's message schema refuses, and faults that its providers refuse later: system messages in the
 * list, calls without a result, results without a call, blank texts, invalid tool names.
 */
export function aiSdkFaults({ system, messages }: Rendered): string[] {
  const faults = new FaultList()
  const calls = new OpenCalls()
  if (system !== null && !isText(system)) faults.add('the system prompt is not a text')
  if (isText(system) && (isBlank(system) || !system.isWellFormed())) faults.add('the system prompt is blank or broken')
  if (messages.length === 0) faults.add('the list is empty')
  for (const [index, message] of messages.entries()) {
    const report: Report = (rule) => faults.at(index, rule)
    const { role, content } = message
    if (hasBrokenText(content)) report(BROKEN_TEXT)
    if (role !== 'tool') report(calls.close())
    if (role === 'user') {
      const parts = fieldsIn(content)
      const isSound = isText(content) ? !isBlank(content) : parts.length > 0 && parts.every(isUserPart)
      if (!isSound) report('has no text')
    } else if (role !== 'assistant' && role !== 'tool') report('has a role that is not allowed in the list')
    else {
      const parts = fieldsIn(content)
      if (parts.length === 0) report('has no parts')
      for (const part of parts) (role === 'tool' ? checkResult : checkPart)(part, calls, report)
    }
  }
  if (calls.size > 0) faults.add(`the list ends with ${calls.size} open calls`)
  return faults.all
}

function checkResult(part: Fields, calls: OpenCalls, report: Report): void {
  const { type, toolCallId, toolName, output } = part
  if (type !== 'tool-result') report('has a part that is not a result')
  report(calls.answer(toolCallId))
  if (!isText(toolName) || !OPENAI_NAME.test(toolName)) report('has a result of a tool whose name providers refuse')
  if (!isOutput(output)) report('has a result without an output')
}

function isOutput(output: unknown): boolean {
  if (!isFields(output)) return false
  const { type, value } = output
  if (type === 'text' || type === 'error-text') return isText(value)
  return type === 'content' && fieldsIn(value).length > 0 && fieldsIn(value).every(isOutputPart)
}

function isOutputPart({ type, text, data, mediaType }: Fields): boolean {
  return type === 'text' ? isText(text) && !isBlank(text) : type === 'media' && isText(mediaType) && isMediaText(data)
}

function isUserPart({ type, text, image, data, mediaType }: Fields): boolean {
  if (type === 'text') return isText(text) && !isBlank(text)
  return type === 'image' ? isMediaText(image) : type === 'file' && isText(mediaType) && isMediaText(data)
}

function checkPart(part: Fields, calls: OpenCalls, report: Report): void {
  switch (part['type']) {
    case 'text':
      if (!isText(part['text']) || isBlank(part['text'])) report('has a text without a visible character')
      break
    case 'reasoning':
      if (!isText(part['text']) || !isFields(part['providerOptions'])) report('has reasoning without its signature')
      break
    case 'tool-call':
      report(calls.open(part['toolCallId'], OPENAI_CALL_ID))
      if (!isText(part['toolName']) || !OPENAI_NAME.test(part['toolName']))
        report('calls a tool with a name that providers refuse')
      if (!isFields(part['input'])) report('has arguments that are not an object')
      break
    default:
      report('has a part of an unknown type')
  }
}
