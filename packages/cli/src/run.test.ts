import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { runCli } from './run.js'

interface Ran {
  code: number
  out: string
  err: string
}

async function run(...argv: string[]): Promise<Ran> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const ran = { out: '', err: '' }
  stdout.on('data', (part) => {
    ran.out += String(part)
  })
  stderr.on('data', (part) => {
    ran.err += String(part)
  })
  const code = await runCli(argv, { stdout, stderr, env: {}, cwd: '/nowhere' })
  return { code, ...ran }
}

const faults: [title: string, argv: string[], field: string, rule: RegExp][] = [
  ['an unknown command', ['weave'], 'command line', /unknown command 'weave'/],
  ['a misspelt command', ['imprt'], 'command line', /Did you mean import/],
  ['an unknown option', ['up', '--fast'], 'command line', /unknown option '--fast'/],
  [
    'a misspelt option',
    ['context', 'build', '--thread', 't', '--budgt', '9'],
    'command line',
    /Did you mean --budget\?/,
  ],
  [
    'a misspelt setting',
    ['settings', 'show', 'prune.keepLasN'],
    'name',
    /is not a setting; did you mean prune\.keepLastN\?/,
  ],
  ['a misspelt group of settings', ['settings', 'show', 'prunes'], 'name', /is not a setting; did you mean prune\?/],
  [
    'an option that is given twice',
    ['messages', 'delete', '--thread', 't', '--message', 'a', '--message', 'b', '--yes'],
    'message',
    /is given more than once/,
  ],
  ['a missing argument', ['threads', 'show'], 'command line', /missing required argument 'name'/],
  ['a missing option', ['import', 'a.jsonl'], 'command line', /required option '--agent/],
  ['a missing subcommand', ['context'], 'command line', /subcommand is missing/],
  ['an argument too many', ['doctor', 'now'], 'command line', /too many arguments/],
  ['a port that is none', ['up', '--port', '70000'], 'port', /from 0 to 65535/],
  ['a stage that is none', ['worker', 'spin'], 'stage', /must be one of ingest, prune/],
  ['a concurrency of nothing', ['worker', 'all', '--concurrency', '0'], 'concurrency', /from 1 to 1000/],
  [
    'a budget of nothing',
    ['context', 'build', '--thread', 't', '--budget', '0'],
    'budget',
    /Context limit must be positive/,
  ],
  ['a budget in words', ['context', 'build', '--thread', 't', '--budget', 'many'], 'budget', /whole number of tokens/],
  [
    'a strategy that is none',
    ['context', 'build', '--thread', 't', '--strategy', 'x'],
    'strategy',
    /must be one of sandwich/,
  ],
  ['a format that is none', ['context', 'build', '--thread', 't', '--format', 'x'], 'format', /must be one of neutral/],
  [
    'a format of sessions that is none',
    ['import', 'a', '--agent', 'a', '--format', 'x'],
    'format',
    /must be one of auto/,
  ],
  ['an agent without a name', ['import', 'a', '--agent', ' '], 'agent', /white space/],
  ['a window that is none', ['import', 'a', '--agent', 'a', '--rolling-window', '-5'], 'rolling-window', /./],
  ['lines that run backwards', ['recall', 'msg-1', '--lines', '50-10'], 'lines', /such as 10-50/],
  ['a line of no number', ['recall', 'msg-1', '--lines', 'x'], 'lines', /such as 10-50/],
  ['a clear of nobody', ['context', 'clear'], 'command line', /required option '--agent/],
  [
    'a time without a zone',
    ['context', 'clear', '--agent', 'a', '--cleared-at', '2026-02-12'],
    'cleared-at',
    /ISO 8601 time with a zone/,
  ],
  ['an order that is none', ['threads', 'history', 't', '--order', 'up'], 'order', /must be one of asc, desc/],
  ['a thread of nobody', ['threads', 'set', 't', '--status', 'on'], 'command line', /required option '--agent/],
  [
    'a title that is too long',
    ['threads', 'set', 't', '--agent', 'a', '--title', 'x'.repeat(501)],
    'title',
    /at most 500/,
  ],
  [
    'a process set and ended at once',
    ['threads', 'processes', 't', '--set', 'a', '--end', 'b'],
    'end',
    /cannot be combined with --set/,
  ],
  ['a status of no process', ['threads', 'processes', 't', '--status', 'on'], 'status', /needs --set or --end/],
  [
    'an iteration without an output',
    ['iterations', 'add', 't', '--agent', 'a', '--prompt', 'p'],
    'output',
    /is needed without --file/,
  ],
  [
    'a file of iterations and one beside it',
    ['iterations', 'add', 't', '--agent', 'a', '--file', 'a.jsonl', '--output', 'o'],
    'output',
    /cannot be combined with --file/,
  ],
  ['a restore of nothing', ['context', 'restore'], 'id', /or --file is needed/],
  ['a restore of a file for no agent', ['context', 'restore', '--file', 'a.json'], 'agent', /is needed with --file/],
  ['an action on queues that is none', ['queues', 'burn'], 'action', /must be one of retry/],
]

test.each(faults)('%s is a usage error: exit code 2 and a hint', async (_, argv, field, rule) => {
  const forPrograms = await run(...argv, '--json')
  expect(forPrograms.code).toBe(2)
  expect(forPrograms.out).toBe('')
  const { error } = JSON.parse(forPrograms.err)
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', field, detail: expect.stringMatching(rule) })
  expect(error.hint).not.toBe('')

  const forPeople = await run(...argv)
  expect(forPeople.code).toBe(2)
  expect(forPeople.err.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^✗ /),
    expect.stringMatching(/^ {2}why: /),
    expect.stringMatching(/^ {2}do: {2}/),
  ])
})

const commands = [
  'up',
  'demo',
  'import',
  'context build',
  'context show',
  'threads list',
  'threads show',
  'agents list',
  'agents show',
  'recall',
  'queues',
  'scaling',
  'worker',
  'gateway',
  'migrate',
  'doctor',
]

test.each(commands)('%s shows help with examples, and accepts --json', async (command) => {
  const { code, out } = await run(...command.split(' '), '--help')
  expect(code).toBe(0)
  expect(out).toContain('Examples:')
  expect(out).toContain(`$ heddle ${command.split(' ')[0]}`)
  expect(out).toContain('--json')
})

test('without a command the help is shown', async () => {
  const { code, out } = await run()
  expect(code).toBe(0)
  expect(out).toContain('First steps:')
})

test('the version is printed', async () => {
  expect(await run('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

test('with --json the version is a document', async () => {
  const ran = await run('--version', '--json')
  expect([ran.code, ran.err]).toEqual([0, ''])
  expect(JSON.parse(ran.out)).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
  expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/)
})
