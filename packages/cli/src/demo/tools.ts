import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join, relative, sep } from 'node:path'
import type { DemoCall, DemoResult } from './transcript.js'

const READ_LINES_MAX = 2_000
const MATCHES_MAX = 150
const OUTPUT_CHARACTERS_MAX = 30_000
const COMMAND_TIMEOUT_MS = 20_000

/** The tools of the demo's agent. They work for real, in a scratch folder, and fail for real. */
export interface DemoTools {
  run(call: DemoCall): Promise<DemoResult>
}

/**
 * @param root the scratch folder; paths in calls are absolute, as in Claude Code
 * @param paths the files below it, which searches look at; files that are written join them
 */
export function createDemoTools({
  root,
  paths,
  signal,
}: {
  root: string
  paths: string[]
  signal?: AbortSignal
}): DemoTools {
  const seen = new Set<string>()

  const tools: Record<string, (input: DemoCall['input']) => Promise<DemoResult>> = {
    async Read(input) {
      const path = String(input['file_path'])
      const lines = (await readFile(path, 'utf8')).split('\n')
      seen.add(path)
      const from = Number(input['offset'] ?? 1)
      const count = Math.min(Number(input['limit'] ?? READ_LINES_MAX), READ_LINES_MAX)
      return ok(numbered(lines.slice(from - 1, from - 1 + count), from))
    },
    async Edit(input) {
      const path = String(input['file_path'])
      const [before, after] = [String(input['old_string']), String(input['new_string'])]
      if (!seen.has(path)) return failed('File has not been read yet. Read it first before writing to it.')
      const text = await readFile(path, 'utf8')
      const parts = text.split(before)
      if (parts.length === 1) return failed(`String to replace not found in file.\nString: ${before}`)
      if (parts.length > 2 && input['replace_all'] !== true) {
        return failed(
          `Found ${parts.length - 1} matches of the string to replace, but replace_all is false.\nString: ${before}`,
        )
      }
      const edited = parts.join(after)
      await writeFile(path, edited)
      const line = (parts[0] ?? '').split('\n').length
      const from = Math.max(1, line - 3)
      const snippet = edited.split('\n').slice(from - 1, line + after.split('\n').length + 3)
      return ok(
        `The file ${path} has been updated. Here's the result of running \`cat -n\` on a snippet of the edited file:\n${numbered(snippet, from)}`,
      )
    },
    async Write(input) {
      const path = String(input['file_path'])
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, String(input['content']))
      seen.add(path)
      const own = relative(root, path).split(sep).join('/')
      if (!paths.includes(own)) paths.push(own)
      return ok(`File created successfully at: ${path}`)
    },
    async LS(input) {
      const entries = await readdir(String(input['path']), { withFileTypes: true })
      const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
      return ok(names.map((name) => `  - ${name}`).join('\n'))
    },
    async Glob(input) {
      const suffix = String(input['pattern']).replace(/^\*\*\/\*?/, '')
      const found = paths.filter((path) => path.endsWith(suffix)).map((path) => join(root, path))
      return ok(found.length === 0 ? 'No files found' : found.slice(0, MATCHES_MAX).join('\n'))
    },
    async Grep(input) {
      const pattern = new RegExp(String(input['pattern']))
      const matches: string[] = []
      let files = 0
      for (const path of paths) {
        if (input['path'] !== undefined && !join(root, path).startsWith(String(input['path']))) continue
        const lines = (await readFile(join(root, path), 'utf8')).split('\n')
        const hits = lines.flatMap((text, index) => (pattern.test(text) ? [`${path}:${index + 1}:${text}`] : []))
        if (hits.length === 0) continue
        files++
        matches.push(...(input['output_mode'] === 'content' ? hits : [path]))
      }
      if (files === 0) return ok('No matches found')
      const shown = matches.slice(0, MATCHES_MAX)
      const rest = matches.length > shown.length ? `\n(${matches.length - shown.length} more)` : ''
      return ok(`Found ${files} files\n${shown.join('\n')}${rest}`)
    },
    Bash: (input) => runCommand(String(input['command']), root, signal),
  }

  return {
    async run(call) {
      const tool = tools[call.name]
      if (tool === undefined) return failed(`No such tool available: ${call.name}`)
      try {
        return await tool(call.input)
      } catch (error) {
        signal?.throwIfAborted()
        return failed(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

function ok(content: string): DemoResult {
  return { content, isError: false }
}

function failed(content: string): DemoResult {
  return { content, isError: true }
}

function numbered(lines: readonly string[], from: number): string {
  return lines.map((line, index) => `${String(from + index).padStart(6)}→${line}`).join('\n')
}

/** Runs a command in a shell that gets none of this process's environment but the path: no URL or key reaches a session. */
function runCommand(command: string, cwd: string, signal?: AbortSignal): Promise<DemoResult> {
  return new Promise((resolve, reject) => {
    const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
    const child = spawn(command, {
      cwd,
      shell: true,
      timeout: COMMAND_TIMEOUT_MS,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: path, HOME: cwd, LC_ALL: 'C', NO_COLOR: '1', ...systemRoot() },
      ...(signal !== undefined && { signal }),
    })
    let output = ''
    const collect = (part: string) => {
      if (output.length < OUTPUT_CHARACTERS_MAX) output = (output + part).slice(0, OUTPUT_CHARACTERS_MAX)
    }
    child.stdout.setEncoding('utf8').on('data', collect)
    child.stderr.setEncoding('utf8').on('data', collect)
    child.once('error', reject)
    child.once('close', (code, endSignal) => {
      if (code === 0) resolve(ok(output.trimEnd()))
      else resolve(failed(`Exit code ${code ?? endSignal}\n${output.trimEnd()}`))
    })
  })
}

/** Windows starts no process without it. */
function systemRoot(): Record<string, string> {
  const root = process.env['SystemRoot']
  return root === undefined ? {} : { SystemRoot: root }
}
