import { currentTrace } from '@heddle/runtime'
import type { JobsOptions } from 'bullmq'

/*
 * How a trace passes through a queue: in BullMQ's own field for it, `telemetry.metadata` of a job's options, so that payloads
 * stay the same and workers of an earlier version ignore it. Its value is a list of `traceparent`, separated by spaces: the
 * first is the cause of the job, the others of wakes that were merged with it. One with a `~` is linked only.
 *
 * A job without it belongs to no recorded trace, and costs its worker nothing.
 */

/** Causes of one job that are kept; a thread that grows for an hour before it is worked on would collect thousands. */
export const CAUSES_MAX = 8
const LINK_ONLY = '~'

export interface Causes {
  /** Null: the job begins a trace that is linked to the others. */
  readonly parent: string | null
  readonly links: readonly string[]
}

/**
 * The carrier for a wake that a woken stage sends: stages wake each other for as long as a thread has work, which as children
 * would be one trace without an end.
 */
export function linkCarrier(): string | undefined {
  const trace = currentTrace()
  return trace === undefined ? undefined : `${LINK_ONLY}${trace}`
}

/** The carrier in a job's options, which Redis returns as stored, with BullMQ's short name. */
export function carrierIn(options: JobsOptions): string | undefined {
  const carrier: unknown = options.telemetry?.metadata ?? (options as { readonly tm?: unknown }).tm
  return typeof carrier === 'string' ? carrier : undefined
}

export function mergeCarriers(carriers: readonly (string | undefined)[]): string | undefined {
  const causes = carriers.flatMap((carrier) => carrier?.split(' ') ?? [])
  return causes.length === 0 ? undefined : causes.slice(0, CAUSES_MAX).join(' ')
}

export function causesIn(carrier: string): Causes {
  const causes = carrier.split(' ').slice(0, CAUSES_MAX)
  const parent = causes.find((cause) => !cause.startsWith(LINK_ONLY)) ?? null
  const links = causes.filter((cause) => cause !== parent)
  return { parent, links: links.map((link) => (link.startsWith(LINK_ONLY) ? link.slice(1) : link)) }
}
