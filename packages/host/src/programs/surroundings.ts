import { type Config, type Logger, untilStopped } from '@heddle/runtime'
import type { HostContext } from '../context.js'

/** The context, configuration and log of a service's program. */
export interface Surroundings {
  readonly context: HostContext
  readonly config: Config
  readonly log: Logger
}

/** Rejects when the program is asked to stop. */
export function untilAskedToStop({ signal }: HostContext): Promise<never> {
  return untilStopped(signal, new Promise<never>(() => undefined))
}
