import { projectIdOf } from '@heddle/core'
import { hasKeys, readKey } from '@heddle/engine'
import { type Gateway, type GatewayOptions, startGateway } from '@heddle/gateway'
import { createLogger } from '@heddle/runtime'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect } from 'vitest'
import { openPipeline, type Pipeline } from '../support.js'

/** A gateway in front of a pipeline, with a function that sends requests. */
export interface Served {
  readonly gateway: Gateway
  readonly url: string
  /** Sends a request, and checks the answer against the OpenAPI document. */
  ask(method: string, path: string, options?: AskOptions): Promise<Asked>
  readonly document: OpenApi
}

interface AskOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Asked {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
  readonly body: any
}

export type JsonSchema = Readonly<Record<string, unknown>>
export interface Operation {
  readonly operationId: string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: JsonSchema }[]
  readonly requestBody?: { content: { 'application/json'?: { schema: JsonSchema } } }
  readonly responses: Readonly<Record<string, { $ref?: string; content?: Record<string, { schema: JsonSchema }> }>>
}
export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { schemas: Readonly<Record<string, JsonSchema>> }
}

export interface ServedPipeline {
  readonly pipeline: Pipeline
  readonly http: Served
}

/** A pipeline with workers of all stages and a gateway, for all tests of a file. */
export function servePipeline(onOpen: (opened: ServedPipeline) => void): void {
  let opened: Partial<ServedPipeline> = {}
  beforeAll(async () => {
    const pipeline = await openPipeline()
    opened = { pipeline }
    await pipeline.start()
    const http = await serve(pipeline)
    opened = { pipeline, http }
    onOpen({ pipeline, http })
  })
  afterAll(async () => {
    await opened.http?.gateway.close()
    await opened.pipeline?.close()
  })
}

export async function serve(pipeline: Pipeline, options: Partial<GatewayOptions> = {}): Promise<Served> {
  const gateway = await startGateway({
    port: 0,
    project: 'tests',
    identity: { pid: 7 },
    log: createLogger({ level: 'fatal', name: 'test' }),
    backend: () => ({
      clientOf: (project) => (project === 'tests' ? pipeline.client : pipeline.clientOf(project)),
      keys: {
        read: (key) => readKey(pipeline.store, key, Date.now()),
        hasAny: () => hasKeys(pipeline.store, projectIdOf('tests')),
      },
      checkShare: (project, share) => pipeline.queues.checkShare({ ...share, projectId: projectIdOf(project) }),
      readStageStats: () => pipeline.queues.stats(),
      readModelCalls: () => pipeline.queues.modelCalls,
      examine: async () => [{ name: 'database', status: 'ok', detail: 'the server answers' }],
      checkReady: async () => void (await pipeline.store.ping()),
    }),
    ...options,
  })
  const { url } = gateway
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi
  const validate = validator(document)
  return {
    gateway,
    url,
    document,
    async ask(method, path, { body, headers = {} } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const asked = { status: response.status, headers: response.headers, body: await response.json() }
      validate(method, path, asked)
      return asked
    },
  }
}

/** Checks an answer against the document; every failure must be a problem document. */
export function validator(document: OpenApi): (method: string, path: string, asked: Asked) => void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'http://document/', components: document.components })
  const known = new Map<string, ValidateFunction>()
  const compiled = (key: string, schema: JsonSchema) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"http://document/#/')
    const validate = known.get(key) ?? ajv.compile(JSON.parse(text))
    known.set(key, validate)
    return validate
  }
  return (method, path, { status, headers, body }) => {
    const type = headers.get('content-type')?.split(';')[0]
    if (status >= 400) {
      expect(type).toBe('application/problem+json')
      expect(body.status).toBe(status)
      expect(headers.get('x-request-id')).toBe(body.requestId)
      return expectValid(compiled('problem', { $ref: '#/components/schemas/Problem' }), body)
    }
    const found = Object.entries(document.paths).find(([pattern]) => matches(pattern, path.split('?', 1).join('')))
    if (found === undefined) throw new Error(`${path} is not in the document`)
    const schema = found[1][method.toLowerCase()]?.responses[status]?.content?.['application/json']?.schema
    if (schema === undefined) throw new Error(`${method} ${path} is not documented to answer with ${status}`)
    expectValid(compiled(`${method} ${found[0]} ${status}`, schema), body)
  }
}

function expectValid(validate: ValidateFunction, body: unknown): void {
  validate(body)
  expect(validate.errors ?? []).toEqual([])
}

function matches(pattern: string, path: string): boolean {
  return new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)
}

export interface StreamedEvent {
  readonly id: number
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
  readonly data: any
}

/** A stream of server-sent events, read one by one. */
export async function openEvents(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ next(): Promise<StreamedEvent | null>; close(): void }> {
  const ending = new AbortController()
  const response = await fetch(url, { headers, signal: ending.signal })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) throw new Error('the stream has no body')
  let text = ''
  return {
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const block = text.slice(0, end)
          text = text.slice(end + 2)
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
          const data = field('data')
          if (data !== undefined)
            return { id: Number(field('id')), event: field('event') ?? '', data: JSON.parse(data) }
          continue
        }
        const { value, done } = await reader.read()
        if (done) return null
        text += value
      }
    },
    close: () => ending.abort(),
  }
}
