import {
  BROKEN_TEXT,
  FaultList,
  type Fields,
  fieldsIn,
  hasBrokenText,
  isFields,
  isMediaText,
  isObjectText,
  isText,
  OPENAI_CALL_ID,
  OPENAI_NAME,
  OpenCalls,
} from './rules.js'

/**
 * Faults that OpenAI's chat completions refuse: results that do not follow their calls at once, ids used twice or too
 * long, names with invalid characters, empty messages.
 */
export function openAiChatFaults(messages: readonly unknown[]): string[] {
  const faults = new FaultList()
  const calls = new OpenCalls()
  if (messages.length === 0) faults.add('the list is empty')
  for (const [index, message] of messages.entries()) {
    const report = (rule: string | null) => faults.at(index, rule)
    if (!isFields(message)) {
      report('is not an object')
      continue
    }
    if (hasBrokenText(message)) report(BROKEN_TEXT)
    const { role, content, tool_calls: called } = message
    if (role === 'tool') {
      report(calls.answer(message['tool_call_id']))
      if (!isText(content)) report('is a result without a text')
      continue
    }
    report(calls.close())
    if (role !== 'system' && role !== 'user' && role !== 'assistant') report('has an unknown role')
    if (role === 'user' && Array.isArray(content)) {
      checkParts(content, report)
      continue
    }
    if (called === undefined) {
      if (!isText(content) || content === '') report('has neither a text nor calls')
      continue
    }
    if (role !== 'assistant') report('has calls but is not an assistant message')
    if (content !== null && !isText(content)) report('has a content that is not a text')
    if (!Array.isArray(called) || called.length === 0) report('has an empty list of calls')
    else for (const call of called) checkCall(call, calls, report)
  }
  if (calls.size > 0) faults.add(`the list ends with ${calls.size} open calls`)
  return faults.all
}

function checkParts(content: unknown, report: (rule: string) => void): void {
  const parts = fieldsIn(content)
  if (parts.length === 0) report('has no parts')
  for (const part of parts) if (!isPart(part)) report('has a part that the provider refuses')
}

function isPart(part: Fields): boolean {
  const { type, text, image_url: image, input_audio: audio, file } = part
  switch (type) {
    case 'text':
      return isText(text) && text !== ''
    case 'image_url':
      return isFields(image) && isMediaText(image['url'])
    case 'input_audio':
      return isFields(audio) && isMediaText(audio['data']) && (audio['format'] === 'wav' || audio['format'] === 'mp3')
    case 'file':
      return isFields(file) && (isText(file['file_id']) || (isMediaText(file['file_data']) && isText(file['filename'])))
    default:
      return false
  }
}

function checkCall(call: unknown, calls: OpenCalls, report: (rule: string | null) => void): void {
  if (!isFields(call) || call['type'] !== 'function' || !isFields(call['function'])) {
    report('has a call without a function')
    return
  }
  report(calls.open(call['id'], OPENAI_CALL_ID))
  const { name, arguments: given } = call['function']
  if (!isText(name) || !OPENAI_NAME.test(name)) report('calls a function with a name that the provider refuses')
  if (!isObjectText(given)) report('has arguments that are not a JSON object')
}
