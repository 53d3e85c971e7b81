import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as a collector receives it, with times in milliseconds since 1970. */
export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly kind: number
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, unknown>>
  /** Ids of the linked spans. */
  readonly links: readonly string[]
  readonly isFailed: boolean
  readonly service: string
}

export interface ReceivedMetric {
  readonly name: string
  readonly unit: string
  readonly kind: 'sum' | 'gauge' | 'histogram'
  readonly points: readonly { readonly attributes: Readonly<Record<string, unknown>>; readonly value: number }[]
}

export interface OtlpReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** Of the last export of each metric. */
  readonly metrics: ReadonlyMap<string, ReceivedMetric>
  close(): Promise<void>
}

/** A collector of OpenTelemetry in memory: OTLP over HTTP as JSON. */
export async function startReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const metrics = new Map<string, ReceivedMetric>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as OtlpBody
    if (request.url === '/v1/traces') spans.push(...spansIn(body))
    else if (request.url === '/v1/metrics') for (const metric of metricsIn(body)) metrics.set(metric.name, metric)
    else response.statusCode = 404
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface OtlpValue {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: number | string
  readonly doubleValue?: number
  readonly arrayValue?: { readonly values: readonly OtlpValue[] }
}

interface OtlpAttribute {
  readonly key: string
  readonly value: OtlpValue
}

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly OtlpAttribute[]
  readonly links?: readonly { readonly spanId: string }[]
  readonly status: { readonly code?: number }
}

interface OtlpPoint {
  readonly attributes: readonly OtlpAttribute[]
  readonly asDouble?: number
  readonly asInt?: number | string
  readonly count?: number | string
}

interface OtlpPoints {
  readonly dataPoints: readonly OtlpPoint[]
}

interface OtlpMetric {
  readonly name: string
  readonly unit: string
  readonly sum?: OtlpPoints
  readonly gauge?: OtlpPoints
  readonly histogram?: OtlpPoints
}

interface OtlpBody {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly OtlpMetric[] }[]
  }[]
}

function spansIn({ resourceSpans = [] }: OtlpBody): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ? span.parentSpanId : null,
        kind: span.kind,
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        attributes: attributesOf(span.attributes),
        links: (span.links ?? []).map(({ spanId }) => spanId),
        isFailed: span.status.code === 2,
        service,
      })),
    )
  })
}

function metricsIn({ resourceMetrics = [] }: OtlpBody): ReceivedMetric[] {
  const all = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  return all.map((metric) => {
    const kind = metric.sum ? 'sum' : metric.gauge ? 'gauge' : 'histogram'
    const points = (metric[kind]?.dataPoints ?? []).map(({ attributes, asDouble, asInt, count }) => ({
      attributes: attributesOf(attributes),
      value: Number(asDouble ?? asInt ?? count),
    }))
    return { name: metric.name, unit: metric.unit, kind, points }
  })
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, decoded(value)]))
}

function decoded({ stringValue, boolValue, intValue, doubleValue, arrayValue }: OtlpValue): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(decoded)
  return stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue))
}
