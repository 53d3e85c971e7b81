import { PassThrough } from 'node:stream'
import { validationError } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { createPrinter, type Printer, type Terminal } from './printer.js'
import { tableLines } from './table.js'

interface Captured {
  printer: Printer
  out: () => string
  err: () => string
}

interface CaptureOptions {
  json?: boolean
  terminal?: boolean
  columns?: number
  env?: Record<string, string>
  isService?: boolean
  nowMs?: () => number
}

function capture(options: CaptureOptions = {}): Captured {
  const stdout: Terminal = new PassThrough()
  const stderr: Terminal = new PassThrough()
  if (options.terminal === true) stdout.isTTY = true
  if (options.columns !== undefined) stdout.columns = options.columns
  const texts = { out: '', err: '' }
  stdout.on('data', (part) => {
    texts.out += String(part)
  })
  stderr.on('data', (part) => {
    texts.err += String(part)
  })
  const printer = createPrinter({
    stdout,
    stderr,
    json: options.json ?? false,
    env: options.env ?? {},
    isService: options.isService ?? false,
    ...(options.nowMs !== undefined && { nowMs: options.nowMs }),
  })
  return { printer, out: () => texts.out, err: () => texts.err }
}

test('people get lines on stdout and notes on stderr', async () => {
  const { printer, out, err } = capture()
  printer.note('opening')
  printer.result({ stored: 3 }, () => ['3 messages stored'])
  await printer.flush()
  expect(out()).toBe('3 messages stored\n')
  expect(err()).toBe('opening\n')
})

test('with --json stdout is exactly one document, and notes and progress are silent', async () => {
  const { printer, out, err } = capture({ json: true, nowMs: () => 1e9 })
  printer.note('opening')
  const progress = printer.progress('storing', 10)
  progress.update(5)
  progress.stop()
  printer.result({ stored: 3 }, () => ['3 messages stored'])
  await printer.flush()
  expect(JSON.parse(out())).toEqual({ stored: 3 })
  expect(out().trimEnd().split('\n')).toHaveLength(1)
  expect(err()).toBe('')
})

test('an error is three lines for people: what, why, what to do', async () => {
  const { printer, out, err } = capture()
  printer.failure(validationError('budget', 'must be positive', 0, 'Give more.'))
  await printer.flush()
  expect(out()).toBe('')
  expect(err()).toBe('✗ That is not valid.\n  why: budget: must be positive (received 0)\n  do:  Give more.\n')
})

test('with --json an error is one object on stderr, always with a hint', async () => {
  const { printer, out, err } = capture({ json: true })
  printer.failure(new Error('the disk is full'))
  await printer.flush()
  expect(out()).toBe('')
  expect(JSON.parse(err())).toEqual({
    error: { code: 'INTERNAL', detail: 'the disk is full', hint: expect.stringContaining('HEDDLE_LOG_LEVEL=debug') },
  })
})

test('a reader that stops reading does not fail the command', async () => {
  const stdout: Terminal = new PassThrough()
  const stderr: Terminal = new PassThrough()
  const printer = createPrinter({ stdout, stderr, json: false, env: {} })
  stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  await new Promise((resolve) => stdout.once('close', resolve))
  printer.result({}, () => ['one', 'two'])
  await expect(printer.flush()).resolves.toBeUndefined()
  expect(process.exitCode).toBeUndefined()
})

test('an exact text is written byte for byte to a pipe, and made safe for a terminal', async () => {
  const text = 'one\u001b[2Jtwo'
  const piped = capture()
  piped.printer.exact(text, 'shown', { text })
  await piped.printer.flush()
  expect(piped.out()).toBe(text)
  const terminal = capture({ terminal: true })
  terminal.printer.exact(text, 'shown', { text })
  await terminal.printer.flush()
  expect(terminal.out()).toBe('shown\n')
})

test('without a terminal progress is a plain line after a second and then every five seconds', async () => {
  let at = 0
  const { printer, err } = capture({ nowMs: () => at })
  const progress = printer.progress('storing', 1_000)
  for (at = 0; at <= 7_000; at += 500) progress.update(at / 10)
  progress.stop()
  progress.update(1_000)
  await printer.flush()
  expect(err()).toBe('  storing: 100 of 1,000\n  storing: 600 of 1,000\n')
})

test('a table fits the terminal, and is complete in a pipe', () => {
  const lines = () => tableLines([{ title: 'goal' }], [['x'.repeat(100)]])
  const [terminal, pipe] = [capture({ terminal: true, columns: 40, env: { NO_COLOR: '1' } }), capture({ columns: 40 })]
  for (const { printer } of [terminal, pipe]) printer.result({}, lines)
  expect(terminal.out().split('\n')[2]).toBe(`${'x'.repeat(39)}…`)
  expect(pipe.out().split('\n')[2]).toBe('x'.repeat(100))
})

test('FORCE_COLOR and NO_COLOR override the check for a terminal', () => {
  const painted = (options: CaptureOptions) => capture(options).printer.colors.green('x') !== 'x'
  expect(painted({ env: { FORCE_COLOR: '1' } })).toBe(true)
  expect(painted({ env: { NO_COLOR: '1' }, terminal: true })).toBe(false)
  expect(painted({ env: { FORCE_COLOR: '1' }, json: true })).toBe(false)
})

test('a service writes only JSON without a terminal', () => {
  const { printer, out, err } = capture({ isService: true })
  printer.note('starting')
  printer.result({ status: 'ready' }, () => ['it is up'])
  printer.failure(validationError('port', 'must be free', 80))
  expect(out()).toBe('{"status":"ready"}\n')
  expect(JSON.parse(err())).toMatchObject({ error: { code: 'VALIDATION_ERROR' } })
})
