import { join } from 'node:path'
import type { DemoTools } from './tools.js'
import type { DemoCall, DemoResult, Transcript } from './transcript.js'

/** What the script of the demo's agent works with: each act is done for real and recorded. */
export interface DemoSession {
  /** Files below the scratch folder, with `/`, sorted at first; files that the agent writes join them. */
  readonly paths: readonly string[]
  readonly messages: number
  /** The user says something. */
  ask(text: string): void
  /** The agent ends its turn with a text. */
  say(text: string): void
  /** The agent calls tools, all at once. */
  use(text: string | null, ...calls: DemoCall[]): Promise<DemoResult[]>
  read(path: string, range?: { offset: number; limit: number }): DemoCall
  edit(path: string, before: string, after: string, all?: boolean): DemoCall
  write(path: string, content: string): DemoCall
  grep(pattern: string, mode: 'content' | 'files_with_matches'): DemoCall
  bash(command: string, description: string): DemoCall
}

export function createDemoSession(options: {
  root: string
  paths: readonly string[]
  tools: DemoTools
  transcript: Transcript
  onMessages?: (count: number) => void
}): DemoSession {
  const { root, paths, tools, transcript } = options
  const absolute = (path: string) => join(root, path)
  return {
    paths,
    get messages() {
      return transcript.messages
    },
    ask: (text) => transcript.ask(text),
    say(text) {
      transcript.act(text, [])
    },
    async use(text, ...calls) {
      const callIds = transcript.act(text, calls)
      const results: DemoResult[] = []
      for (const [index, call] of calls.entries()) {
        const result = await tools.run(call)
        transcript.answer(callIds[index] ?? '', result)
        results.push(result)
      }
      options.onMessages?.(transcript.messages)
      return results
    },
    read: (path, range) => ({ name: 'Read', input: { file_path: absolute(path), ...range } }),
    edit: (path, before, after, all = false) => ({
      name: 'Edit',
      input: {
        file_path: absolute(path),
        old_string: before,
        new_string: after,
        ...(all && { replace_all: true }),
      },
    }),
    write: (path, content) => ({ name: 'Write', input: { file_path: absolute(path), content } }),
    grep: (pattern, mode) => ({ name: 'Grep', input: { pattern, path: root, output_mode: mode } }),
    bash: (command, description) => ({ name: 'Bash', input: { command, description } }),
  }
}
