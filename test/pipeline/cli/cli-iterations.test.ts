import { rm, writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { type Home, openDatabaseHome } from './cli-support.js'

let home: Home

const heddle = (...argv: string[]) => home.heddle(...argv)
const build = (...options: string[]) =>
  heddle('context', 'build', '--agent', 'runner', '--thread', 'nightly', '--strategy', 'iterations', ...options)

beforeAll(async () => {
  home = await openDatabaseHome()
  const lines = Array.from({ length: 12 }, (_, index) => ({
    prompt: `step ${index + 1}`,
    output: index === 3 ? '' : `<progress>Step ${index + 1} is done in src/step${index + 1}.ts.</progress>`,
    cli_used: 'codex',
  }))
  await writeFile(home.path('run.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'))
  await heddle('threads', 'set', 'nightly', '--agent', 'runner', '--goal', 'Make the login work')
  expect((await heddle('iterations', 'add', 'nightly', '--agent', 'runner', '--file', 'run.jsonl')).code).toBe(0)
})

test('a recorded run leads to a context with its summary, and to a readable receipt', async () => {
  const built = await build('--messages')
  // On a busy machine it reports its waiting.
  expect(built.stderr.replace(/^ *pruned and summarized: .*\n/gm, '')).toBe('')
  expect(built.stdout).toMatch(/progress-summary +1 +\d+\n/)
  expect(built.stdout).toContain('iterations: 7 covered, 3 raw, 2 left-out')
  expect(built.stdout).toContain(
    'left out: iterations 8-9, in the window of the newest 5, of which a prompt shows the last 3',
  )
  expect(built.stdout).toContain('user: # Goal Make the login work # Progress Summary (iterations 1-7)')
  const { document } = await build('--json')
  expect(document).toMatchObject({ strategy: 'iterations', summaryUsed: true, receipt: { iterations: 12, notes: [] } })
  expect(document.receipt.stateId).not.toBeNull()
})

test('flags of runs and settings of heddle.yaml have distinct names', async () => {
  const covered = async (...options: string[]) => {
    const { document } = await build('--json', ...options)
    const { entries } = document.receipt as { entries: { mode: string; toIteration?: number }[] }
    return entries.find(({ mode }) => mode === 'covered')?.toIteration
  }
  expect(await covered('--context-window', '8', '--summarize-every', '4')).toBe(4)
  await writeFile(home.path('heddle.yaml'), 'context:\n  raw_window_size: 2\n  summarize_every: 6\n')
  expect(await covered()).toBe(10)
  await rm(home.path('heddle.yaml'))
  expect(await build('--context-window', '0')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('context-window'),
  })
  expect(await build('--summarize-every', 'often')).toMatchObject({ code: 2 })
})

test('the state of the run is shown for people and for programs', async () => {
  await build()
  const { stdout } = await heddle('iterations', 'loop', 'nightly')
  expect(stdout).toContain('thread nightly: Make the login work')
  expect(stdout).toMatch(/summary of 1-7 · version \d+ · \d+ tokens · by extractive/)
  expect(stdout).toContain('Iterations without output: 4')
  const { document } = await heddle('iterations', 'loop', 'nightly', '--json')
  expect(document).toMatchObject({
    totalIterations: 12,
    currentCli: 'codex',
    summary: { coveredFrom: 1, coveredTo: 7 },
  })
  expect((await heddle('iterations', 'loop', 'none')).code).toBe(1)
})
