import { replaceableOutput } from './claude-code-outputs.js'
import { isJsonRecord, stringField } from './response-fields.js'
import { blocksText } from './tool-output.js'

/** The text of a tool's output for its message: what the model reads of it, as far as its shape is known. */
export function responseText(toolName: string, response: unknown): string {
  const known = replaceableOutput(toolName, response)
  if (known !== null) return known.text
  if (typeof response === 'string') return response
  if (!isJsonRecord(response)) return JSON.stringify(response ?? '')
  return (
    editText(toolName, response) ?? listText(toolName, response) ?? blocksText(response) ?? JSON.stringify(response)
  )
}

/** An edit's output holds the file before it, which its call need not repeat. */
function editText(toolName: string, response: Readonly<Record<string, unknown>>): string | null {
  if (toolName !== 'Edit' && toolName !== 'Write' && toolName !== 'NotebookEdit') return null
  const path = stringField(response, 'filePath') ?? stringField(response, 'notebook_path')
  return path === null ? null : `The file ${path} has been ${response['type'] === 'create' ? 'created' : 'updated'}.`
}

function listText(toolName: string, response: Readonly<Record<string, unknown>>): string | null {
  const { filenames } = response
  if ((toolName !== 'Glob' && toolName !== 'Grep') || !Array.isArray(filenames)) return null
  return filenames.filter((name) => typeof name === 'string').join('\n')
}
