import type { BaseMessage } from '@langchain/core/messages'
import { toJsonSchema } from '@langchain/core/utils/json_schema'

/** Fewer than a token of English has, so that instructions and tools are not counted too low. */
const CHARACTERS_PER_TOKEN = 3
/** Of the budget, instructions and tools leave at least this part to the conversation. */
const CONVERSATION_MIN = 0.25

interface Tool {
  readonly name?: unknown
  readonly description?: unknown
  readonly schema?: unknown
}

/** The budget of a conversation beside the instructions and the tools of a request, whose tokens are estimated. */
export function budgetBeside(
  budget: number,
  { systemMessage, tools }: { readonly systemMessage: BaseMessage; readonly tools: readonly object[] },
): number {
  const characters = systemMessage.text.length + tools.reduce((sum, tool) => sum + charactersOf(tool), 0)
  const left = budget - Math.ceil(characters / CHARACTERS_PER_TOKEN)
  return Math.max(Math.ceil(budget * CONVERSATION_MIN), left)
}

function charactersOf(tool: object): number {
  const { name, description, schema } = tool as Tool
  if (schema === undefined) return JSON.stringify(tool).length
  return JSON.stringify([name, description, jsonSchemaOf(schema)]).length
}

function jsonSchemaOf(schema: unknown): unknown {
  try {
    return toJsonSchema(schema as Parameters<typeof toJsonSchema>[0])
  } catch {
    // A schema that JSON cannot express is refused by the provider, not here.
    return null
  }
}
