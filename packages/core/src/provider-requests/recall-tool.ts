import type { JsonObject } from '@heddle/contracts'
import type { Protocol } from './protocol.js'

/** The name of the tool with which a model reads what was shortened. The proxy answers it; clients never see it. */
export const RECALL_TOOL = 'heddle_recall'

const DESCRIPTION =
  'Returns the whole text of a result that was shortened in this conversation. Use the reference from its "[recall:msg-…]" mark.'

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    ref: { type: 'string', description: 'The reference, such as msg-4k2m9x7q' },
    from_line: { type: 'integer', description: 'First line to return; default 1' },
    to_line: { type: 'integer', description: 'Last line to return; default the last one' },
  },
  required: ['ref'],
}

/** The tool in a protocol's form; null if its replies cannot be answered in the middle. */
export function recallToolOf(protocol: Protocol): JsonObject | null {
  switch (protocol) {
    case 'anthropic':
      return { name: RECALL_TOOL, description: DESCRIPTION, input_schema: PARAMETERS }
    case 'openai-chat':
      return { type: 'function', function: { name: RECALL_TOOL, description: DESCRIPTION, parameters: PARAMETERS } }
    case 'openai-responses':
      return null
  }
}
