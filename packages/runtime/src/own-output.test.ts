import { EventEmitter } from 'node:events'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLogger } from './logger.js'
import { type OutputHost, ownOutput } from './own-output.js'

function capture() {
  const lines: Record<string, unknown>[] = []
  const destination = new Writable({
    write(line, _encoding, next) {
      lines.push(JSON.parse(String(line)))
      next()
    },
  })
  const printed: unknown[] = []
  const print = (...parts: unknown[]) => void printed.push(parts)
  const process = new EventEmitter()
  process.on('warning', print)
  const host = { console: { debug: print, log: print, info: print, warn: print, error: print }, process }
  const log = createLogger({ level: 'debug', name: 'test', destination })
  return { lines, printed, process, host: host as unknown as OutputHost, log }
}

test('the output of libraries and Node becomes lines of the log, each with its level', () => {
  const { lines, printed, process, host, log } = capture()
  ownOutput(log, host)
  host.console.warn('IMPORTANT! Eviction policy is %s.\nIt should be "noeviction"', 'allkeys-lru')
  host.console.error(new Error('redis://:secret@host failed').message)
  process.emit('warning', Object.assign(new Error('an option is going away'), { name: 'ExperimentalWarning' }))
  expect(printed).toEqual([])
  expect(lines).toMatchObject([
    { level: 40, source: 'console', msg: 'IMPORTANT! Eviction policy is allkeys-lru. It should be "noeviction"' },
    { level: 50 },
    { level: 40, source: 'node', error: { type: 'ExperimentalWarning', message: 'an option is going away' } },
  ])
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test('afterwards they print again as before', () => {
  const { lines, printed, process, host, log } = capture()
  ownOutput(log, host)()
  host.console.log('plain')
  process.emit('warning', new Error('plain'))
  expect([lines.length, printed.length]).toEqual([0, 2])
})
