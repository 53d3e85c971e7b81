import { hostname } from 'node:os'
import type { Config, Logger, Tracer } from '@heddle/runtime'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { exportMetrics } from './open-metrics.js'
import { createTracer } from './open-telemetry-tracer.js'

/** Spans that wait for their export; further ones are dropped, so that a collector that is away costs memory of this size only. */
const SPANS_MAX = 4_096
/** Spans of one request to the collector. */
const BATCH_SPANS_MAX = 512
const EXPORT_EVERY_MS = 2_000
const EXPORT_MS_MAX = 5_000
/** Time between two warnings of failed exports. */
const WARN_EVERY_MS = 60_000

export interface OpenTelemetry {
  readonly tracer: Tracer
  /** Exports the metrics of the process from now on. @param readText the text of `/metrics` */
  exportMetrics(readText: () => Promise<string>): void
  /** Exports the last spans and metrics, within a time limit; never rejects. */
  close(): Promise<void>
}

export interface OpenTelemetryOptions {
  readonly telemetry: Config['telemetry'] & { readonly url: string }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Pick<Logger, 'warn'>
}

/** Loads the packages of OpenTelemetry: this module is imported only if telemetry is on. */
export function openTelemetry({ telemetry, env, log }: OpenTelemetryOptions): OpenTelemetry {
  reportFailures(log)
  const resource = resourceFromAttributes({
    'service.name': env['OTEL_SERVICE_NAME']?.trim() || 'heddle',
    'service.instance.id': `${hostname()}:${process.pid}`,
    'host.name': hostname(),
    'process.pid': process.pid,
  })
  const exporter = new OTLPTraceExporter({ url: endpoint(telemetry.url, 'traces'), timeoutMillis: EXPORT_MS_MAX })
  const processor = new BatchSpanProcessor(exporter, {
    maxQueueSize: SPANS_MAX,
    maxExportBatchSize: BATCH_SPANS_MAX,
    scheduledDelayMillis: EXPORT_EVERY_MS,
    exportTimeoutMillis: EXPORT_MS_MAX,
  })
  // Whether a trace is recorded is decided before its first span is made; OpenTelemetry's own variables do not change it.
  const sampler = new AlwaysOnSampler()
  const provider = new BasicTracerProvider({ resource, sampler, spanProcessors: [processor] })
  const exports: { close(): Promise<void> }[] = []
  return {
    tracer: createTracer({ spans: provider.getTracer('heddle'), share: telemetry.sampled }),
    exportMetrics(readText) {
      const url = endpoint(telemetry.url, 'metrics')
      const everyMs = telemetry.metricsSeconds * 1_000
      exports.push(exportMetrics({ url, everyMs, timeoutMs: EXPORT_MS_MAX, resource, readText }))
    },
    async close() {
      await Promise.all([provider.shutdown().catch(() => {}), ...exports.map((each) => each.close())])
    },
  }
}

/** By the specification of OTLP, each signal has its path below the address of the collector. */
function endpoint(url: string, signal: 'traces' | 'metrics'): string {
  return `${url.endsWith('/') ? url.slice(0, -1) : url}/v1/${signal}`
}

/** A collector that is away is not Heddle's failure: it is reported, and seldom. */
function reportFailures(log: Pick<Logger, 'warn'>): void {
  let warnedAtMs = Number.NEGATIVE_INFINITY
  setGlobalErrorHandler((error) => {
    const nowMs = performance.now()
    if (nowMs - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = nowMs
    log.warn({ error }, 'telemetry was not exported')
  })
}
