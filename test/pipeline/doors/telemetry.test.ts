import { newId } from '@heddle/client/calls'
import { startTelemetry, type Telemetry } from '@heddle/host'
import { createLogger } from '@heddle/runtime'
import { waitFor } from '@heddle/test-support'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OtlpReceiver, type ReceivedSpan, startReceiver } from '../../trace/receiver.js'
import { takeTurn } from '../../trace/turn.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'
import { type Served, serve } from './http-support.js'

const log = createLogger({ level: 'fatal', name: 'test' })
const user = (content: string) => ({ role: 'user' as const, content })
const traceId = () => newId().replaceAll('-', '')
const SPAN_ID = '00f067aa0ba902b7'

describe.each(queueBackends())('traces on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('exported over OTLP', () => {
    let pipeline: Pipeline
    let http: Served
    let receiver: OtlpReceiver
    let telemetry: Telemetry

    beforeAll(async () => {
      receiver = await startReceiver()
      telemetry = await startTelemetry({ telemetry: { url: receiver.url, sampled: 0, metricsSeconds: 60 } }, { log })
      pipeline = await openPipeline(mode)
      await pipeline.start()
      http = await serve(pipeline)
    })
    afterAll(async () => {
      await http?.gateway.close()
      await telemetry?.close()
      await pipeline?.close()
      await receiver?.close()
    })

    const ofTrace = (id: string) => receiver.spans.filter((span) => span.traceId === id)
    /** The spans of a trace, once it has these names and no span whose parent is still to be exported. */
    async function spansOf(id: string, names: readonly string[]): Promise<readonly ReceivedSpan[]> {
      await waitFor(() => {
        const found = new Set(ofTrace(id).map(({ name }) => name))
        expect([...found]).toEqual(expect.arrayContaining([...names]))
        return true
      })
      return ofTrace(id)
    }

    test('one trace has every hop of an append and a context, with its wait', async () => {
      const stages = ['ingest', 'prune', 'embed', 'assemble']
      const hops = stages.flatMap((stage) => [`wait heddle-${stage}`, `process heddle-${stage}`])
      const id = await takeTurn({ url: http.url, collectorUrl: receiver.url, thread: 'turn' })
      const spans = await spansOf(id, [
        'turn',
        ...hops,
        'commit messages',
        'load messages',
        'search_memory',
        'store context',
      ])
      const byId = new Map(spans.map((span) => [span.spanId, span]))
      // A job has a span for each attempt, and a context that waits for its compaction has several.
      const parents = (name: string) => [
        ...new Set(
          spans.filter((span) => span.name === name).map(({ parentSpanId }) => byId.get(parentSpanId ?? '')?.name),
        ),
      ]
      const append = 'POST /v1/threads/:thread/messages'
      expect(parents(append)).toEqual(expect.arrayContaining(['turn', append]))
      expect(parents('process heddle-ingest')).toEqual([append])
      expect(parents('process heddle-prune')).toEqual(['process heddle-ingest'])
      expect(parents('process heddle-embed')).toEqual(['process heddle-ingest'])
      expect(parents('process heddle-assemble')).toEqual(['POST /v1/threads/:thread/contexts'])
      expect(parents('search_memory')).toEqual(['process heddle-assemble'])
      for (const stage of stages) {
        const [wait, work] = [`wait heddle-${stage}`, `process heddle-${stage}`].map((name) => byName(spans, name))
        expect(wait?.endMs).toBeLessThanOrEqual((work?.startMs ?? 0) + 1)
        expect(work?.attributes['heddle.wait_ms']).toBeGreaterThanOrEqual(0)
      }
      // The reply is here after the job has ended, and before the answer.
      const replies = spans.filter(({ name }) => name === 'await reply')
      expect(replies).toHaveLength(2)
      expect(byName(spans, 'search_memory')?.attributes).toMatchObject({ 'gen_ai.operation.name': 'search_memory' })
    })

    test('nothing that a user wrote is in it', async () => {
      expect(receiver.spans.length).toBeGreaterThan(0)
      expect(JSON.stringify(receiver.spans)).not.toMatch(/Tuesday|helper|coder|continued|"turn"(?!,"traceId")/)
    })

    test("a caller's sampled trace is continued, and one that is not sampled is not recorded", async () => {
      const [sampled, unsampled] = [traceId(), traceId()]
      for (const traceparent of [`00-${unsampled}-${SPAN_ID}-00`, `00-${sampled}-${SPAN_ID}-01`]) {
        const headers = { traceparent }
        await http.ask('POST', '/v1/threads/continued/messages', {
          headers,
          body: { agent: 'coder', messages: [{ id: newId(), ...user('one') }] },
        })
      }
      const spans = await spansOf(sampled, ['process heddle-ingest'])
      expect(byName(spans, 'POST /v1/threads/:thread/messages')?.parentSpanId).toBe(SPAN_ID)
      expect(ofTrace(unsampled)).toEqual([])
    })

    test('a malformed traceparent begins a trace of its own, which the share decides about', async () => {
      const before = receiver.spans.length
      await http.ask('GET', '/v1/threads', { headers: { traceparent: '00-zz-1-01' } })
      const id = traceId()
      await http.ask('GET', '/v1/threads', { headers: { traceparent: `00-${id}-${SPAN_ID}-01` } })
      await spansOf(id, ['GET /v1/threads'])
      expect(receiver.spans.slice(before).map((span) => span.traceId)).toEqual([id])
    })

    test('a call of a tool continues the trace in its parameters, and is linked to its request', async () => {
      const id = traceId()
      const around = traceId()
      const client = new Client({ name: 'test', version: '1' })
      const requestInit = { headers: { traceparent: `00-${around}-${SPAN_ID}-01` } }
      await client.connect(new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), { requestInit }) as never)
      await client.callTool({
        name: 'search',
        arguments: { query: 'one' },
        _meta: { traceparent: `00-${id}-${SPAN_ID}-01` },
      })
      await client.close()
      const call = byName(await spansOf(id, ['tools/call search']), 'tools/call search')
      expect(call?.attributes).toMatchObject({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'search',
      })
      const requests = (await spansOf(around, ['POST /mcp'])).map(({ spanId }) => spanId)
      expect(requests).toContain(call?.links[0])
    })

    test('metrics are exported as they are scraped', async () => {
      const metered = await startTelemetry(
        { telemetry: { url: receiver.url, sampled: 0, metricsSeconds: 3_600 } },
        { log },
      )
      metered.exportMetrics(() => http.gateway.readMetrics())
      // The last export is at the end.
      await metered.close()
      const text = await (await fetch(`${http.url}/metrics`)).text()
      const scraped =
        /^heddle_http_request_duration_seconds_count{.*route="\/v1\/threads\/:thread\/contexts".*} (\d+)$/m.exec(text)
      const durations = receiver.metrics.get('heddle_http_request_duration_seconds')
      const ofContexts = durations?.points.filter(
        ({ attributes }) => attributes['route'] === '/v1/threads/:thread/contexts',
      )
      expect(durations).toMatchObject({ kind: 'histogram', unit: 's' })
      expect(ofContexts?.map(({ value }) => value)).toEqual([Number(scraped?.[1])])
      expect(receiver.metrics.get('heddle_stage_workers')?.points).toContainEqual({
        attributes: { stage: 'prune' },
        value: 1,
      })
      expect(receiver.metrics.get('process_cpu_seconds_total')).toMatchObject({ kind: 'sum' })
    })

    test('wakes that wait as one job are one span with a link to each further cause', async () => {
      const threadId = newId()
      const { projectId } = pipeline
      const [first, second, third] = [traceId(), traceId(), traceId()] as const
      await pipeline.queues.pause('prune')
      for (const id of [first, second, third])
        await pipeline.queues.wake('prune', { projectId, threadId }, `00-${id}-${SPAN_ID}-01`)
      await pipeline.queues.resume('prune')
      const spans = await spansOf(first, ['process heddle-prune'])
      expect(byName(spans, 'process heddle-prune')).toMatchObject({
        links: [SPAN_ID, SPAN_ID],
        attributes: { 'heddle.merged_wakes': 2 },
      })
    })
  })
})

test('a collector that is away costs a client nothing but a warning', async () => {
  const telemetry = await startTelemetry(
    { telemetry: { url: 'http://127.0.0.1:9', sampled: 1, metricsSeconds: 60 } },
    { log },
  )
  await telemetry.close()
})

function byName(spans: readonly ReceivedSpan[], name: string): ReceivedSpan | undefined {
  return spans.find((span) => span.name === name)
}
