import type { OperationSample, Sample } from './sample.js'

/** One measured guarantee of a run, after the first minutes. */
export interface Verdict {
  readonly what: string
  /** The first judged minute, and the worst one after it. */
  readonly from: number
  readonly to: number
  readonly max: number
  readonly unit: string
  readonly pass: boolean
}

/** Caches fill and pools open in this time. */
const WARM_MINUTES = 5
const MEGABYTE = 1_048_576
const UP_MEGABYTES_MAX = 400
const LOOP_P99_MS_MAX = 50
/** The allowed variation of a steady value from minute to minute. */
const FLAT_RATIO = 1.15
/** A percentile of operations of milliseconds varies more. */
const FLAT_LATENCY_RATIO = 1.5
const LATENCY_MARGIN_MS = 5

/**
 * Whether a run stayed flat after its first minutes: the mean of the last third of the judged minutes against that of the
 * first third, so that one busy minute does not decide.
 */
export function judge(samples: readonly Sample[]): Verdict[] {
  const judged = samples.filter(({ minute }) => minute > WARM_MINUTES)
  if (judged.length < 3) return []
  const third = Math.ceil(judged.length / 3)
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const ends = (read: (sample: Sample) => number) => ({
    from: mean(judged.slice(0, third).map(read)),
    to: mean(judged.slice(-third).map(read)),
  })
  const flat = (what: string, unit: string, read: (sample: Sample) => number, ratio = FLAT_RATIO, margin = 0) => {
    const { from, to } = ends(read)
    const max = from * ratio + margin
    return { what, unit, from, to, max, pass: to <= max }
  }
  const bounded = (what: string, unit: string, max: number, read: (sample: Sample) => number): Verdict => {
    const values = judged.map(read)
    const to = Math.max(...values)
    return { what, unit, from: values[0] ?? 0, to, max, pass: to <= max }
  }
  const [first] = judged
  const processes = first?.processes ?? []
  const processOf = (sample: Sample, name: string) => sample.processes.find((process) => process.name === name)
  const operations = first?.operations ?? []
  return [
    ...processes.flatMap(({ name }) => {
      const megabytes = (sample: Sample) => (processOf(sample, name)?.residentBytes ?? 0) / MEGABYTE
      const delay = (sample: Sample) => processOf(sample, name)?.loopDelayP99Ms ?? 0
      return [
        bounded(`${name}: resident memory`, 'MiB', UP_MEGABYTES_MAX, megabytes),
        flat(`${name}: resident memory, growth`, 'MiB', megabytes),
        bounded(`${name}: loop delay p99`, 'ms', LOOP_P99_MS_MAX, delay),
      ]
    }),
    flat('connections', '', ({ database }) => database.connections, 1, 1),
    flat('database per message', 'bytes', ({ database }) => database.bytes / database.messages, 1),
    ...operations.map(({ operation }) =>
      flat(`${operation} p50`, 'ms', p50Of(operation), FLAT_LATENCY_RATIO, LATENCY_MARGIN_MS),
    ),
    bounded('operations not begun', '', 0, ({ skipped }) => skipped),
    bounded('operations failed', '', 0, (sample) => sample.operations.reduce((sum, { failed }) => sum + failed, 0)),
  ]
}

/** Also false if the run was too short to be judged. */
export function isSteady(verdicts: readonly Verdict[]): boolean {
  return verdicts.length > 0 && verdicts.every(({ pass }) => pass)
}

function p50Of(operation: string): (sample: Sample) => number {
  return ({ operations }) => operations.find((one: OperationSample) => one.operation === operation)?.p50Ms ?? 0
}
