import { isJsonRecord, stringField } from './response-fields.js'

/** The text that a model reads of a tool's output, and the output with another text in its place. */
export interface ToolOutput {
  readonly text: string
  /** Claude Code numbers the lines as it shows them, so only a beginning keeps its numbers. */
  readonly isNumbered: boolean
  /** The same output, of the same shape, with a shorter text. */
  replace(text: string): unknown
}

const SHELLS = new Set(['Bash', 'PowerShell'])
const OWN_TOOL = /^mcp__(?:plugin_heddle_)?heddle__/

/**
 * Reads the output of a tool of Claude Code in the shape that its hooks receive (docs/claude-code.md#outputs). Claude Code ignores a
 * replacement of another shape, so outputs of unknown shapes are not replaced, nor are images, those of edits, what
 * subagents report, and what was recalled.
 *
 * @returns null for an output that stays as it is
 */
export function replaceableOutput(toolName: string, response: unknown): ToolOutput | null {
  if (isOwnTool(toolName)) return null
  if (toolName.startsWith('mcp__')) return mcpOutput(response)
  if (!isJsonRecord(response)) return null
  if (SHELLS.has(toolName)) return shellOutput(response)
  if (toolName === 'Read') return fileOutput(response)
  if (toolName === 'Grep') return textIn(response, 'content')
  if (toolName === 'WebFetch') return textIn(response, 'result')
  return null
}

/** Whether a tool is one of Heddle's, in whatever way its server was set up. */
export function isOwnTool(toolName: string): boolean {
  return OWN_TOOL.test(toolName)
}

/** Whether a call asks for a part of a file: it wants just these lines, perhaps because a stub left them out. */
export function isReadAgain({
  tool_name,
  tool_input,
}: {
  readonly tool_name: string
  readonly tool_input: unknown
}): boolean {
  if (tool_name !== 'Read' || !isJsonRecord(tool_input)) return false
  return tool_input['offset'] !== undefined || tool_input['limit'] !== undefined
}

type Fields = Readonly<Record<string, unknown>>

function shellOutput(response: Fields): ToolOutput | null {
  const [stdout, stderr] = [stringField(response, 'stdout'), stringField(response, 'stderr')]
  if (stdout === null || stderr === null || response['isImage'] === true) return null
  // Without its copy on disk, or that would be shown in its place.
  const { persistedOutputPath: _path, persistedOutputSize: _size, ...shown } = response
  return {
    text: shellText(stdout, stderr),
    isNumbered: false,
    replace: (text) => ({ ...shown, stdout: text, stderr: '' }),
  }
}

export function shellText(stdout: string, stderr: string): string {
  return [stdout, stderr].filter((each) => each !== '').join('\n')
}

function fileOutput(response: Fields): ToolOutput | null {
  const { file } = response
  if (response['type'] !== 'text' || !isJsonRecord(file)) return null
  const content = stringField(file, 'content')
  if (content === null) return null
  return {
    text: content,
    isNumbered: true,
    replace: (text) => ({ ...response, file: { ...file, content: text, numLines: text.split('\n').length } }),
  }
}

function textIn(response: Fields, field: string): ToolOutput | null {
  const text = stringField(response, field)
  if (text === null) return null
  return { text, isNumbered: false, replace: (shorter) => ({ ...response, [field]: shorter }) }
}

function mcpOutput(response: unknown): ToolOutput | null {
  if (typeof response === 'string') return { text: response, isNumbered: false, replace: (text) => text }
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
