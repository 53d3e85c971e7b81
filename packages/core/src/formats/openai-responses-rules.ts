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
 * Faults that OpenAI's Responses API refuses in its input: a call without its output, an output without its call, ids
 * used twice or too long, names with invalid characters. Outputs must also come right after their calls, which the API
 * does not require but models were trained on.
 */
export function openAiResponsesFaults(items: readonly unknown[]): string[] {
  const faults = new FaultList()
  const calls = new OpenCalls()
  if (items.length === 0) faults.add('the list is empty')
  let areOutputs = false
  for (const [index, item] of items.entries()) {
    const report = (rule: string | null) => faults.at(index, rule)
    if (!isFields(item)) {
      report('is not an object')
      continue
    }
    if (hasBrokenText(item)) report(BROKEN_TEXT)
    const isOutput = item['type'] === 'function_call_output'
    if (isOutput) {
      report(calls.answer(item['call_id']))
      if (!isText(item['output']) && !arePartsSound(item['output'])) report('is an output without a text')
    } else if (areOutputs || item['type'] === 'message') report(calls.close())
    areOutputs = isOutput
    if (item['type'] === 'function_call') {
      report(calls.open(item['call_id'], OPENAI_CALL_ID))
      if (!isText(item['name']) || !OPENAI_NAME.test(item['name']))
        report('calls a function with a name that the provider refuses')
      if (!isObjectText(item['arguments'])) report('has arguments that are not a JSON object')
    } else if (item['type'] === 'message') {
      const { role, content } = item
      if (role !== 'system' && role !== 'user' && role !== 'assistant') report('has an unknown role')
      const isSound = isText(content) ? content !== '' : role === 'user' && arePartsSound(content)
      if (!isSound) report('has no text')
    } else if (!isOutput) report('is an item of an unknown type')
  }
  if (calls.size > 0) faults.add(`the list ends with ${calls.size} open calls`)
  return faults.all
}

function arePartsSound(content: unknown): boolean {
  const parts = fieldsIn(content)
  return parts.length > 0 && parts.every(isPart)
}

function isPart(part: Fields): boolean {
  const { type, text, detail, image_url: image, file_id: id, file_data: data, file_url: url, filename } = part
  switch (type) {
    case 'input_text':
      return isText(text) && text !== ''
    case 'input_image':
      return isText(detail) && (isText(id) || isMediaText(image))
    case 'input_file':
      return isText(id) || isMediaText(url) || (isMediaText(data) && isText(filename))
    default:
      return false
  }
}
