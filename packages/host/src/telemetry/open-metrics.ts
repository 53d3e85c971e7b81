import { hrTime } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { emptyResource, type Resource } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { metricDataOf } from './metric-data.js'
import { readPrometheusText } from './prometheus-text.js'

export interface MetricsExportOptions {
  readonly url: string
  readonly everyMs: number
  readonly timeoutMs: number
  readonly resource: Resource
  /** The text of `/metrics`. */
  readText(): Promise<string>
}

/** Exports the metrics of a process until it is closed, and once more then; closing never rejects. */
export function exportMetrics(options: MetricsExportOptions): { close(): Promise<void> } {
  const { url, everyMs, timeoutMs, resource, readText } = options
  const startTime = hrTime()
  const producer = {
    async collect() {
      const endTime = hrTime()
      const families = readPrometheusText(await readText())
      const metrics = families.map((family) => metricDataOf(family, startTime, endTime))
      const scopeMetrics = [{ scope: { name: 'heddle' }, metrics }]
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] }
    },
  }
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url, timeoutMillis: timeoutMs }),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(timeoutMs, everyMs),
    metricProducers: [producer],
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return { close: () => provider.shutdown().catch(() => {}) }
}
