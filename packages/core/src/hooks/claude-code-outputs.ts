import { isOwnTool } from './own-tools.js'
import { isJsonRecord, stringField } from './response-fields.js'
import { mcpOutput, type ToolOutput } from './tool-output.js'

const SHELLS = new Set(['Bash', 'PowerShell'])

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
