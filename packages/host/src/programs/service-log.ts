import type { StageName } from '@heddle/contracts'
import type { Surroundings } from './surroundings.js'

/** The log of a process that runs until it is stopped: it reports starting, ready, stopping and stopped. */
export interface ServiceLog {
  ready(facts: Readonly<Record<string, unknown>>): void
  /** Called once it has been asked to stop, or has failed. */
  stopping(): void
  stopped(): void
}

export function openServiceLog(
  { context, config, log }: Surroundings,
  facts: { readonly command: string; readonly workers: readonly StageName[]; readonly healthPort?: number },
): ServiceLog {
  const startedMs = performance.now()
  let stoppingMs = startedMs
  log.info({ ...facts, mode: config.mode, queuePrefix: config.queuePrefix }, 'starting')
  return {
    ready: (more) => log.info({ ...more, tookMs: msSince(startedMs) }, 'ready'),
    stopping() {
      stoppingMs = performance.now()
      log.info({ signal: signalNameOf(context.signal) }, 'stopping')
    },
    stopped: () => log.info({ tookMs: msSince(stoppingMs) }, 'stopped'),
  }
}

/** @returns null if the process stops for another reason */
function signalNameOf({ reason }: AbortSignal): string | null {
  return (reason as { signalName?: string } | undefined)?.signalName ?? null
}

function msSince(sinceMs: number): number {
  return Math.round(performance.now() - sinceMs)
}
