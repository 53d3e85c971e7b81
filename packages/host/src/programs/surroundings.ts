import { type Config, type Logger, untilStopped } from '@heddle/runtime'
import type { HostContext } from '../context.js'

/** What a program of a service has: its environment, as it was read. */
export interface Surroundings {
  readonly context: HostContext
  readonly config: Config
  readonly log: Logger
}

/** Rejects when the program is asked to stop. */
export function untilAskedToStop({ signal }: HostContext): Promise<never> {
  return untilStopped(signal, new Promise<never>(() => undefined))
}
