import { PassThrough } from 'node:stream'
import type { Argument, Command, Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { createPrinter } from './output/printer.js'
import { buildProgram } from './program.js'
import { runCli } from './run.js'

/*
 * Every command finds a usage error before it opens anything: each is run with options and arguments that it cannot accept.
 */

const printer = createPrinter({ stdout: new PassThrough(), stderr: new PassThrough(), json: false, env: {} })
const program = buildProgram({
  printer,
  env: {},
  cwd: '/nowhere',
  signal: new AbortController().signal,
  ask: async () => null,
  ownOutput: () => undefined,
  mayMakeData: () => false,
  setExitCode: () => undefined,
})
const commands = [...leavesOf(program, [])]

interface Leaf {
  readonly command: Command
  readonly path: readonly string[]
}

function* leavesOf(command: Command, path: readonly string[]): Generator<Leaf> {
  if (command.commands.length === 0) yield { command, path }
  for (const each of command.commands) yield* leavesOf(each, [...path, each.name()])
}

/** Options that accept any text: names of tools and files, prose, addresses, cursors. */
const FREE = new Set(
  [
    '--after --changed --cli --command --cursor --data --description --doc --env --file --header --key-file --marker --message --model --out',
    '--output --path --prompt --prompt-file --remove-doc --text --tool --url',
  ]
    .join(' ')
    .split(' '),
)
/** Arguments that accept any text: texts, paths, and values that only the store or a server can check. */
const FREE_ARGUMENTS = new Set(['file', 'model', 'reference', 'words', 'value'])

async function run(argv: readonly string[], env: Record<string, string> = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await runCli([...argv, '--json'], { stdout, stderr, env, cwd: '/nowhere' })
  const err = String(stderr.read() ?? '')
  return { code, out: String(stdout.read() ?? ''), error: err === '' ? null : JSON.parse(err).error }
}

/** A value that every parser refuses: it is no number, in no list of choices, and too long for a name or a text. */
const BAD = 'x'.repeat(1_000_001)

describe.each(commands.map((leaf) => [leaf.path.join(' '), leaf] as const))('heddle %s', (_, { command, path }) => {
  const required = command.registeredArguments.filter(({ required: isRequired }) => isRequired)

  test('accepts --json and --help, and shows an example', async () => {
    const help = await run([...path, '--help'])
    expect(help.code).toBe(0)
    const text = JSON.parse(help.out).help
    expect(text).toContain('--json')
    expect(text).toContain('Examples:\n  $ ')
  })

  test('refuses an option that it does not have with exit code 2', async () => {
    expect(await run([...path, '--no-such-option'])).toMatchObject({ code: 2, error: { code: 'VALIDATION_ERROR' } })
  })

  test('refuses missing arguments and options with exit code 2', async () => {
    const mandatory = command.options.filter((option) => option.mandatory)
    if (required.length + mandatory.length === 0) return
    expect(await run(path)).toMatchObject({
      code: 2,
      error: { detail: expect.stringMatching(/missing|not specified/) },
    })
  })

  test('refuses invalid values of options and arguments with exit code 2', async () => {
    const taking = command.options.filter((option: Option) => option.required || option.optional)
    for (const { long = '' } of taking.filter(({ long: name = '' }) => !FREE.has(name))) {
      const refused = await run([...path, `${long}=${BAD}`])
      expect(refused, long).toMatchObject({ code: 2, error: { code: 'VALIDATION_ERROR' } })
      expect(refused.error.hint, long).not.toBe('')
    }
    for (const argument of command.registeredArguments.filter((each: Argument) => !FREE_ARGUMENTS.has(each.name()))) {
      const index = command.registeredArguments.indexOf(argument)
      const before = Array.from({ length: index }, () => 'rule')
      expect(await run([...path, ...before, BAD]), argument.name()).toMatchObject({ code: 2 })
    }
  })
})

test('all commands of the public surface exist', () => {
  const names = commands.map(({ path }) => path.join(' '))
  const groups = ['agents', 'threads', 'items', 'settings'].flatMap((group) =>
    ['list', 'show', 'set'].map((verb) => `${group} ${verb}`),
  )
  const context = ['build', 'show', 'explain', 'diff', 'clear', 'save', 'history', 'restore'].map(
    (verb) => `context ${verb}`,
  )
  const single = ['up', 'demo', 'worker', 'import', 'recall', 'search', 'queues', 'doctor', 'tail', 'mcp', 'gateway']
  expect(names).toEqual(expect.arrayContaining([...groups, ...context, ...single]))
  for (const group of ['agents', 'threads', 'items', 'settings']) {
    const words = program.commands.find((each) => each.name() === group)?.commands ?? []
    expect(words.some((each) => [each.name(), ...each.aliases()].includes('remove'))).toBe(true)
  }
})
