import type { ContextResult, FormatName, JsonObject } from '@heddle/contracts'
import type { Count } from '../history/counting.js'
import type { FullItem, IncludedItem } from '../items/index.js'

export type RenderedTool = ContextResult['tools'][number]

/** A tool in the form in which a context offers it, beside the messages. */
export interface PlacedTool {
  readonly item: IncludedItem<FullItem>
  readonly rendered: RenderedTool
  readonly tokens: number
}

/** Upper bound of the tokens that a provider's format adds per tool. */
const TOOL_TOKENS = 8
/** Providers require a schema, also for a tool without parameters. */
const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} }

export function placeTool(
  included: IncludedItem<FullItem>,
  names: ReadonlyMap<string, string>,
  { format, count }: { readonly format: FormatName; readonly count: Count },
): PlacedTool {
  const { item } = included
  const rendered = renderTool(format, item, names.get(item.itemId) ?? item.name)
  return { item: included, rendered, tokens: TOOL_TOKENS + count(JSON.stringify(rendered)) }
}

function renderTool(format: FormatName, item: FullItem, name: string): RenderedTool {
  const schema = item.inputSchema ?? NO_ARGUMENTS
  const named = { name, ...(item.description !== null && { description: item.description }) }
  switch (format) {
    case 'openai-chat':
      return { type: 'function', function: { ...named, parameters: schema } }
    case 'openai-responses':
      return { type: 'function', ...named, parameters: schema }
    case 'anthropic':
      return { ...named, input_schema: schema }
    case 'ai-sdk':
      return { ...named, inputSchema: schema }
    case 'neutral':
      return { ...named, serverName: item.serverName, toolName: item.name, inputSchema: schema }
  }
}
