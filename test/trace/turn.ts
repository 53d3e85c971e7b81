import { createClient } from '@heddle/client/http'
import { defaultTextMapSetter, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

export interface TurnOptions {
  /** The gateway's address. */
  readonly url: string
  readonly collectorUrl: string
  readonly thread: string
}

/**
 * A turn of an agent that traces its own work: it appends a message, waits for it to be stored, and asks for a context with
 * memories. Its span is the root of the trace.
 *
 * @returns the id of the trace
 */
export async function takeTurn({ url, collectorUrl, thread }: TurnOptions): Promise<string> {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'agent' }),
    spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${collectorUrl}/v1/traces` }))],
  })
  const turn = provider.getTracer('agent').startSpan('turn', {}, ROOT_CONTEXT)
  const around = trace.setSpan(ROOT_CONTEXT, turn)
  const propagator = new W3CTraceContextPropagator()
  // A program with OpenTelemetry's Node SDK passes the module `@opentelemetry/api` itself.
  const telemetry = {
    trace: { getTracer: (name: string) => provider.getTracer(name), setSpan: trace.setSpan },
    context: { active: () => around },
    propagation: {
      inject: (context: typeof around, carrier: Record<string, string>) =>
        propagator.inject(context, carrier, defaultTextMapSetter),
    },
  }
  const client = createClient({ url, telemetry })
  const content = 'The deployment of Tuesday failed because the migration held a lock. How do we avoid that?'
  await client.messages.append({ agent: 'helper', thread, messages: [{ role: 'user', content }] })
  await client.contexts.build({ agent: 'helper', thread, budget: 8_000, memories: { limit: 3 } })
  turn.end()
  await provider.shutdown()
  return turn.spanContext().traceId
}
