import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { namedPaths } from './pages/named-paths.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
/** Made by a command that the page names. */
const MADE = new Set(['docs/.vitepress/dist'])

test('every path of the repository in a page exists', async () => {
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: root })
  const missing: string[] = []
  let named = 0
  // Decisions say what held on their day.
  for (const page of stdout.split('\n').filter((path) => path !== '' && !path.startsWith('docs/decisions/2'))) {
    for (const path of namedPaths(await readFile(join(root, page), 'utf8'))) {
      named += 1
      if (!MADE.has(path) && !existsSync(join(root, path))) missing.push(`${page} names ${path}`)
    }
  }
  expect(missing).toEqual([])
  expect(named).toBeGreaterThan(40)
})

test('paths are read from inline code, without lines and anchors, and not from code blocks', () => {
  const page =
    'In `packages/core/src`, `docs/a.md#b` and `test/x.ts:3`, not `services/NAME`.\n\n```sh\n`docs/no`\n```\n'
  expect(namedPaths(page)).toEqual(['packages/core/src', 'docs/a.md', 'test/x.ts'])
})
