type Fields = Readonly<Record<string, unknown>>

export interface Response {
  /** As a hook receives it. */
  readonly value: unknown
  /** The text in it that the model reads; null where its form is not that of a text. */
  readonly text: string | null
}

/** The output of a tool in the form that hooks receive, from the text that a transcript has of it. */
export function toolResponse(toolName: string, input: Fields, text: string): Response {
  const field = (name: string) => (typeof input[name] === 'string' ? String(input[name]) : '')
  const path = field('file_path')
  if (toolName.startsWith('mcp__')) return { value: [{ type: 'text', text }], text }
  switch (toolName) {
    case 'Bash':
      return { value: { stdout: text, stderr: '', interrupted: false, isImage: false }, text }
    case 'Read': {
      const content = withoutLineNumbers(text)
      const lines = content.split('\n').length
      const startLine = Number(input['offset'] ?? 1)
      const file = { filePath: path, content, numLines: lines, startLine, totalLines: startLine + lines - 1 }
      return { value: { type: 'text', file }, text: content }
    }
    case 'Grep':
      return {
        value: { mode: 'content', numFiles: 0, filenames: [], content: text, numLines: text.split('\n').length },
        text,
      }
    case 'Glob': {
      const filenames = text.split('\n')
      return { value: { durationMs: 1, numFiles: filenames.length, filenames, truncated: false }, text }
    }
    case 'Edit': {
      const edited = { filePath: path, oldString: field('old_string'), newString: field('new_string') }
      const patch = { originalFile: null, structuredPatch: [], userModified: false, replaceAll: false }
      return { value: { ...edited, ...patch }, text: null }
    }
    case 'Write': {
      const written = { type: 'create', filePath: path, content: field('content') }
      return { value: { ...written, structuredPatch: [], originalFile: null }, text: null }
    }
    case 'WebFetch': {
      const fetched = { bytes: text.length, code: 200, codeText: 'OK', result: text, durationMs: 1, url: field('url') }
      return { value: fetched, text }
    }
    default:
      return { value: text, text }
  }
}

/** Transcripts have views of files with the numbers of their lines, which hooks do not get. */
function withoutLineNumbers(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*\d{1,7}(?:→|\t)/, ''))
    .join('\n')
}
