import { readFile, writeFile } from 'node:fs/promises'
import { transform } from 'esbuild'
import { expect, test } from 'vitest'
import { openDatabaseHome } from './cli-support.js'

const EXAMPLE = new URL('../../../docs/examples/own-strategy.ts', import.meta.url)

test('a strategy from a module named in heddle.yaml compacts and builds in each command, and a faulty module is an error', async () => {
  const home = await openDatabaseHome()
  const { code } = await transform(await readFile(EXAMPLE, 'utf8'), { loader: 'ts' })
  await writeFile(home.path('own-strategy.mjs'), code)
  const settings = 'settings: { strategy: two-requests, budget: 3000, rollingWindow: null }'
  await writeFile(home.path('heddle.yaml'), `strategyModules: [./own-strategy.mjs]\n${settings}\n`)
  const lines = Array.from({ length: 120 }, (_, index) => ({
    role: index % 10 === 0 ? 'user' : 'assistant',
    content: `Step ${index}: ${'the parser was made to read one more form of line. '.repeat(4)}`,
  }))
  await writeFile(home.path('session.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))

  const imported = await home.heddle('import', 'session.jsonl', '--agent', 'coder', '--thread', 'run', '--json')
  expect(imported.stderr).toBe('')
  const built = await home.heddle('context', 'build', '--agent', 'coder', '--thread', 'run', '--json')
  expect(built.stderr).toBe('')
  expect(built.document).toMatchObject({ strategy: 'two-requests', summaryUsed: true })
  const shown: { content: string }[] = built.document.messages
  // The last two requests, with all their work.
  for (const line of lines.slice(100)) expect(shown.map(({ content }) => content)).toContain(line.content)
  const asked = await home.heddle(
    ...['context', 'build', '--agent', 'coder', '--thread', 'run', '--strategy', 'two-requests', '--json'],
  )
  expect(asked.document.strategy).toBe('two-requests')

  await writeFile(home.path('heddle.yaml'), `strategyModules: [./missing.mjs]\n${settings}\n`)
  const refused = await home.heddle('threads', 'list', '--json')
  expect(refused.code).toBe(1)
  expect(refused.error).toMatchObject({ code: 'VALIDATION_ERROR', field: 'strategyModules', received: './missing.mjs' })
  expect((await home.heddle('--help')).code).toBe(0)
})
