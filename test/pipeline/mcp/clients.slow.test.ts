import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import type { JsonSchemaType, JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'
import { expect, test } from 'vitest'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

let pipeline: Pipeline
let http: Served

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

/** Compiles each schema once for all clients; the official client would compile it for each, which takes most of the time. */
class KnownValidators extends AjvJsonSchemaValidator {
  readonly #known = new Map<string, JsonSchemaValidator<unknown>>()

  override getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const text = JSON.stringify(schema)
    const validator = this.#known.get(text) ?? super.getValidator(schema)
    this.#known.set(text, validator)
    return validator as JsonSchemaValidator<T>
  }
}
const validators = new KnownValidators()

async function connect(key: string, fetching: typeof fetch): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { jsonSchemaValidator: validators })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  const url = new URL(`${http.url}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit, fetch: fetching }) as never)
  return client
}

test('500 official clients with the same request ids list and call at once, and each gets its own answers', async () => {
  const projects = Array.from({ length: 10 }, (_, index) => `crowd-${index}`)
  await Promise.all(
    projects.map(async (project) => {
      const messages = [{ role: 'user' as const, content: `canary of ${project}` }]
      await pipeline.clientOf(project).messages.append({ agent: 'coder', thread: 'run', messages })
    }),
  )
  const projectOf = (index: number) => projects[index % projects.length] as string
  const keys = await Promise.all(
    Array.from({ length: 500 }, async (_, index) => {
      const { key } = await pipeline.clientOf(projectOf(index)).keys.create({ name: 'reader', role: 'read' })
      return key
    }),
  )
  const sentIds = new Map<unknown, number>()
  const counted: typeof fetch = (url, init) => {
    const { id } = JSON.parse(String(init?.body ?? '{}')) as { id?: unknown }
    sentIds.set(id, (sentIds.get(id) ?? 0) + 1)
    return fetch(url, init)
  }
  const clients = await Promise.all(keys.map((key) => connect(key, counted)))
  const crossed: string[] = []
  const call = async (client: Client, index: number) => {
    const [{ tools }, answer] = await Promise.all([
      client.listTools(),
      client.callTool({ name: 'history', arguments: { thread: 'run' } }),
    ])
    expect(tools.map(({ name }) => name)).toContain('history')
    const canaries = [...JSON.stringify(answer).matchAll(/canary of (crowd-\d)/g)].map(([, project]) => project)
    const isOwn = canaries.length > 0 && canaries.every((project) => project === projectOf(index))
    if (!isOwn) crossed.push(`${index} got ${canaries.join(', ') || JSON.stringify(answer)}`)
  }
  await Promise.all(clients.map(call))
  await Promise.all(clients.map((client) => client.close()))
  expect(crossed).toEqual([])
  // Each client counts its requests from 0: initialize, list, call.
  for (const id of [0, 1, 2]) expect(sentIds.get(id)).toBe(500)
})
