import { isJsonRecord, stringField } from './response-fields.js'

/** The text that a model reads of a tool's output, and the output with another text in its place. */
export interface ToolOutput {
  readonly text: string
  /** The agent numbers the lines as it shows them, so only a beginning keeps its numbers. */
  readonly isNumbered: boolean
  /** Of a longer text the agent itself cuts out the middle, where the reference is. */
  readonly stubBytesMax?: number
  /** The same output, of the same shape, with a shorter text. */
  replace(text: string): unknown
}

export function textOutput(text: string): ToolOutput {
  return { text, isNumbered: false, replace: (shorter) => shorter }
}

/** The output of a tool of an MCP server: a text, blocks, or a result with blocks; null if any block is not a text. */
export function mcpOutput(response: unknown): ToolOutput | null {
  if (typeof response === 'string') return textOutput(response)
  const blocks = Array.isArray(response) ? response : isJsonRecord(response) ? response['content'] : null
  if (!Array.isArray(blocks)) return null
  const texts = blocks.map((block) =>
    isJsonRecord(block) && block['type'] === 'text' ? stringField(block, 'text') : null,
  )
  if (texts.length === 0 || texts.includes(null)) return null
  const replace = (text: string) => {
    const content = [{ type: 'text', text }]
    if (!isJsonRecord(response)) return content
    const { structuredContent: _structured, ...rest } = response
    return { ...rest, content }
  }
  return { text: texts.join('\n'), isNumbered: false, replace }
}

/** The texts among the blocks of an output; null if it has no blocks, or no text. */
export function blocksText({ content }: Readonly<Record<string, unknown>>): string | null {
  if (!Array.isArray(content)) return null
  const texts = content.flatMap((block) => (isJsonRecord(block) ? (stringField(block, 'text') ?? []) : []))
  return texts.length === 0 ? null : texts.join('\n')
}
