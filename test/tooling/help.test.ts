import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import * as bench from '../bench/src/arguments.js'
import * as chaos from '../chaos/src/arguments.js'
import * as evaluation from '../eval/src/arguments.js'
import * as outages from '../faults/outage-arguments.js'

/** Commands that take minutes, with how each reads what it is given. */
const commands = [
  { name: 'chaos', help: chaos.help, read: (given: string[]) => chaos.readArguments(given, 1), flags: ['--seed N'] },
  {
    name: 'eval',
    help: evaluation.help,
    read: (given: string[]) => evaluation.readArguments(given, {}),
    flags: ['--data DIR'],
  },
  {
    name: 'bench',
    help: bench.help,
    read: (given: string[]) => bench.readArguments(given, {}),
    flags: ['--messages N'],
  },
  {
    name: 'outages',
    help: outages.help,
    read: (given: string[]) => outages.readArguments(given),
    flags: ['--seconds N,N'],
  },
]

test.each(commands)(
  'npm run $name -- --help says what it does, how long it takes and which options it has',
  async ({ name, help, read, flags }) => {
    expect(read(['--help']).help).toBe(true)
    expect(read([]).help).toBe(false)
    expect(help).toMatch(new RegExp(`^npm run ${name} -- \\[options\\]\n\n[A-Z]`))
    expect(help).toMatch(/^Takes: .*minute/m)
    expect(help).toMatch(/^Exits: 0 when/m)
    for (const flag of ['-h, --help', '--list', '--only NAME', ...flags])
      expect(help).toMatch(new RegExp(`^  ${flag} +[a-z]`, 'm'))
    const { scripts } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(scripts[name]).toBeDefined()
  },
)
