import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { titlesOf } from '../requirements/titles.js'
import { interfaceRows } from './interface-tables.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

/** Everything that takes Heddle in: the page with the table of its interface, and its tests. */
const adapters = [
  ...['ai-sdk', 'openai-agents', 'langchain', 'mastra'].map((name) => ({
    page: `packages/${name}/README.md`,
    tests: [`test/pipeline/adapters/${name}*.test.ts`],
  })),
  ...['claude-code', 'codex', 'opencode'].map((name) => ({
    page: `docs/${name}.md`,
    tests: [`test/pipeline/plugins/${name}*.test.ts`],
  })),
  { page: 'clients/python/README.md', tests: ['clients/python/tests/test_*.py'] },
]

async function titlesIn(path: string): Promise<readonly string[]> {
  const text = await readFile(join(root, path), 'utf8')
  if (!path.endsWith('.py')) return titlesOf(text)
  return [...text.matchAll(/def test_(\w+)\(/g)].map(([, name = '']) => name.replaceAll('_', ' '))
}

test.each(adapters)('every test in the table of $page exists', async ({ page, tests }) => {
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...tests], {
    cwd: root,
  })
  const titles = (await Promise.all(stdout.split('\n').filter(Boolean).map(titlesIn))).flat()
  const rows = interfaceRows(await readFile(join(root, page), 'utf8'))
  expect(rows.length).toBeGreaterThan(4)
  const missing = rows.flatMap(({ name, tests: named }) =>
    named.filter((part) => !titles.some((title) => title.includes(part))).map((part) => `${name}: ${part}`),
  )
  expect(missing).toEqual([])
  expect(rows.filter(({ tests: named }) => named.length === 0).map(({ name }) => name)).toEqual(
    // The one row that says what the adapter does not have.
    page.includes('openai-agents') ? [expect.stringContaining('runCompaction')] : [],
  )
})

test('rows are read from tables whose last column is the test', () => {
  const page =
    '| a | b |\n| --- | --- |\n| x | y |\n\n| hook | does | test |\n| --- | --- | --- |\n| `m` | it | one; two |\n'
  expect(interfaceRows(page)).toEqual([{ name: '`m`', tests: ['one', 'two'] }])
})
