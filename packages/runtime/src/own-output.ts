import { format } from 'node:util'
import { withoutCredentials } from './credentials.js'
import type { Logger } from './logger.js'

/** The parts of a process through which libraries and Node itself print. */
export interface OutputHost {
  readonly console: Pick<Console, ConsoleMethod>
  readonly process: Pick<NodeJS.Process, 'on' | 'off' | 'listeners' | 'removeAllListeners'>
}

type ConsoleMethod = (typeof consoleMethods)[number]

const consoleMethods = ['debug', 'log', 'info', 'warn', 'error'] as const
const levels = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error' } as const

/**
 * Redirects the output of libraries and Node to the log, where each line is JSON: BullMQ's warning about a Redis that
 * evicts keys, warnings of Node, the error that ends the process.
 *
 * @returns undoes it
 */
export function ownOutput(log: Logger, host: OutputHost = { console, process }): () => void {
  const before = consoleMethods.map((method) => [method, host.console[method]] as const)
  for (const method of consoleMethods) {
    host.console[method] = (...parts: unknown[]) =>
      log[levels[method]](
        { source: 'console' },
        withoutCredentials(format(...parts)).replace(/\s+/g, (run) => (run.includes('\n') ? ' ' : run)),
      )
  }
  // Node prints warnings in a listener of its own.
  const printers = host.process.listeners('warning')
  host.process.removeAllListeners('warning')
  const onWarning = (warning: Error) => log.warn({ source: 'node', error: warning }, 'a warning of Node')
  host.process.on('warning', onWarning)
  const onUncaught = (error: Error) => {
    log.fatal({ error }, 'an uncaught error ends the process')
    process.exit(1)
  }
  host.process.on('uncaughtException', onUncaught)
  return () => {
    for (const [method, print] of before) host.console[method] = print
    host.process.off('uncaughtException', onUncaught)
    host.process.off('warning', onWarning)
    for (const print of printers) host.process.on('warning', print as (warning: Error) => void)
  }
}
