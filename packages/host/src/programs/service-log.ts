import type { StageName } from '@heddle/contracts'
import type { Config, Logger } from '@heddle/runtime'
import { InterruptedError } from '../output/failure.js'
import { type CommandContext, loggerOf } from './context.js'

/** The log of a process that runs until it is stopped: it reports starting, ready, stopping and stopped. */
export interface ServiceLog {
  readonly log: Logger
  ready(facts: Readonly<Record<string, unknown>>): void
  /** Called once it has been asked to stop, or has failed. */
  stopping(): void
  stopped(): void
}

export function openServiceLog(
  context: CommandContext,
  config: Config,
  facts: { readonly command: string; readonly workers: readonly StageName[] },
): ServiceLog {
  const log = loggerOf(context, config, 'service')
  context.ownOutput(log)
  const startedMs = performance.now()
  let stoppingMs = startedMs
  log.info({ ...facts, mode: config.mode, queuePrefix: config.queuePrefix }, 'starting')
  return {
    log,
    ready: (more) => log.info({ ...more, tookMs: msSince(startedMs) }, 'ready'),
    stopping() {
      stoppingMs = performance.now()
      const { reason } = context.signal
      log.info({ signal: reason instanceof InterruptedError ? reason.signalName : null }, 'stopping')
    },
    stopped: () => log.info({ tookMs: msSince(stoppingMs) }, 'stopped'),
  }
}

function msSince(sinceMs: number): number {
  return Math.round(performance.now() - sinceMs)
}
