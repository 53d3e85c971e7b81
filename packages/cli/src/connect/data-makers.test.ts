import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createPrinter } from '../output/printer.js'
import { buildProgram } from '../program.js'
import { dataMakers, mayMakeData } from './data-makers.js'

const program = buildProgram({
  printer: createPrinter({ stdout: new PassThrough(), stderr: new PassThrough(), json: false, env: {} }),
  env: {},
  cwd: '/nowhere',
  signal: new AbortController().signal,
  ask: async () => null,
  ownOutput: () => undefined,
  mayMakeData: () => false,
  setExitCode: () => undefined,
})

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

test('every name in the list of commands that may create data is a command', () => {
  expect(leavesOf(program).filter(mayMakeData)).toHaveLength(dataMakers.size)
})
