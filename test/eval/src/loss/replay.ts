import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Message } from '@heddle/core'

/** Files after a replay, by their paths in the session. */
export interface Replayed {
  readonly written: ReadonlySet<string>
  readonly deleted: ReadonlySet<string>
}

interface Call {
  readonly name: string
  readonly given: Readonly<Record<string, unknown>>
}

/**
 * Replays the calls of Claude Code that succeeded on a scratch folder, and looks at the files that are there afterwards. It shares
 * no code with the rules; of commands it knows simple ones with absolute paths: `rm`, `mv`, `cp`, `touch` and `>`.
 */
export async function replay(messages: readonly Message[]): Promise<Replayed> {
  const root = await mkdtemp(join(tmpdir(), 'heddle-replay-'))
  try {
    const touched = new Set<string>()
    const inside = (path: string) => join(root, path)
    const write = async (path: string, text: string) => {
      touched.add(path)
      await mkdir(dirname(inside(path)), { recursive: true })
      await writeFile(inside(path), text)
    }
    const results = new Map(
      messages.flatMap((one) => (one.toolCallId === null ? [] : [[one.toolCallId, one] as const])),
    )
    for (const call of messages.flatMap(({ toolCalls }) => toolCalls)) {
      const result = results.get(call.id)
      if (result === undefined || hasFailed(result) || typeof call.arguments !== 'object') continue
      await apply({ name: call.name, given: call.arguments as Call['given'] })
    }
    return {
      written: new Set([...touched].filter((path) => existsSync(inside(path)))),
      deleted: new Set([...touched].filter((path) => !existsSync(inside(path)))),
    }

    async function apply({ name, given }: Call): Promise<void> {
      const path = String(given['file_path'] ?? '')
      if (name === 'Write') await write(path, String(given['content'] ?? ''))
      else if (name === 'Edit' || name === 'MultiEdit') {
        const before = existsSync(inside(path)) ? await readFile(inside(path), 'utf8') : ''
        await write(path, `${before}${String(given['new_string'] ?? '')}`)
      } else if (name === 'Bash') for (const words of commandsIn(String(given['command'] ?? ''))) await run(words)
    }

    async function run(words: readonly string[]): Promise<void> {
      const [name, ...rest] = words
      const paths = rest.filter((word) => word.startsWith('/'))
      const [from, to] = paths
      const to1 = words[words.indexOf('>') + 1]
      if (words.includes('>') && to1?.startsWith('/') && to1 !== '/dev/null') await write(to1, '')
      else if (name === 'rm') {
        for (const path of paths) {
          touched.add(path)
          await rm(inside(path), { recursive: true, force: true })
        }
      } else if (name === 'mv' && from !== undefined && to !== undefined) {
        if (!existsSync(inside(from))) await write(from, '')
        await write(to, '')
        await rename(inside(from), inside(to))
      } else if ((name === 'cp' || name === 'touch') && paths.length > 0) await write(paths.at(-1) ?? '', '')
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

function hasFailed({ isError, content }: Message): boolean {
  return isError || /^(?:<tool_use_error>|Exit code [1-9]|The user doesn't want to proceed)/.test(content)
}

/** The simple commands of a line joined by `&&` alone; empty for any other line. */
function commandsIn(line: string): string[][] {
  if (/[;|`$\n(){}*?<]|\|\||[^&]&[^&]/.test(line.replace(/2>&1/g, ''))) return []
  return line
    .replace(/2>&1/g, '')
    .split('&&')
    .map((command) =>
      command
        .trim()
        .split(/\s+/)
        .map((word) => word.replace(/^["']|["']$/g, '')),
    )
}
