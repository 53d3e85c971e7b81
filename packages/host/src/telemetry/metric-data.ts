import { type HrTime, ValueType } from '@opentelemetry/api'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import type { MetricFamily, MetricSample } from './prometheus-text.js'

/** A metric of Prometheus as one of OpenTelemetry: both count since the start of the process. */
export function metricDataOf(family: MetricFamily, startTime: HrTime, endTime: HrTime): MetricData {
  const { name, help, type, samples } = family
  const descriptor = { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE }
  const times = { startTime, endTime }
  const aggregationTemporality = AggregationTemporality.CUMULATIVE
  const points = () => samples.map(({ labels, value }) => ({ ...times, attributes: labels, value }))
  if (type === 'histogram') {
    const dataPoints = histogramsIn(name, samples).map(({ attributes, ...value }) => ({ ...times, attributes, value }))
    return { descriptor, aggregationTemporality, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  if (type === 'gauge')
    return { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints: points() }
  const dataPoints = points()
  return { descriptor, aggregationTemporality, dataPointType: DataPointType.SUM, dataPoints, isMonotonic: true }
}

/** Prometheus has the unit in the name, as the last word but `total`. */
function unitOf(name: string): string {
  const word = name
    .replace(/_total$/, '')
    .split('_')
    .at(-1)
  return word === 'seconds' ? 's' : word === 'bytes' ? 'By' : ''
}

interface HistogramPoint {
  readonly attributes: Readonly<Record<string, string>>
  readonly buckets: { readonly boundaries: number[]; readonly counts: number[] }
  readonly sum: number
  readonly count: number
}

/** The buckets of Prometheus count all smaller values; those of OpenTelemetry count their own. */
function histogramsIn(name: string, samples: readonly MetricSample[]): HistogramPoint[] {
  const byLabels = new Map<
    string,
    { attributes: Record<string, string>; below: [number, number][]; sum: number; count: number }
  >()
  for (const sample of samples) {
    const { le, ...attributes } = sample.labels
    const key = JSON.stringify(attributes)
    const point = byLabels.get(key) ?? { attributes, below: [], sum: 0, count: 0 }
    byLabels.set(key, point)
    if (le !== undefined) point.below.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), sample.value])
    else if (sample.name === `${name}_sum`) point.sum = sample.value
    else if (sample.name === `${name}_count`) point.count = sample.value
  }
  return [...byLabels.values()].map(({ attributes, below, sum, count }) => ({
    attributes,
    buckets: {
      boundaries: below.map(([bound]) => bound).filter(Number.isFinite),
      counts: below.map(([, value], at) => value - (below[at - 1]?.[1] ?? 0)),
    },
    sum,
    count,
  }))
}
