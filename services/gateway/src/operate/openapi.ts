import { errorCodes, eventsQuerySchema, httpEventSchema, httpSchemas, problemSchema } from '@heddle/contracts'
import { z } from 'zod'
import type { RouteContract } from '../http/route.js'
import { refusalComponents, refusalsOf } from './openapi-refusals.js'
import { openApiTags } from './openapi-tags.js'

type Json = Record<string, unknown>

/** The route of events, which answers with a stream: its contract stands here, its handler in `events.ts`. */
export const eventsContract = {
  id: 'followEvents',
  method: 'GET',
  path: '/v1/events',
  tag: 'events',
  needs: 'read',
  summary: 'What happens in the project, as server-sent events',
  description:
    'Each event has its number as `id` and its topic as `event`. Who comes again with `Last-Event-ID` (a browser does so by itself) gets what happened meanwhile, each event once and in order. Without it the stream begins with what happens next.',
  params: z.strictObject({}),
  query: eventsQuerySchema,
  body: z.unknown(),
  headers: { 'Last-Event-ID': 'The number of the last event that the caller has seen.' },
  responses: { 200: { description: 'The stream. `data` is one event as JSON.', schema: httpEventSchema } },
} as const satisfies RouteContract

/**
 * The OpenAPI 3.1 document of some routes. Its schemas are made of those that requests are parsed with, so they cannot say
 * something else; rules that JSON Schema has no words for are left to the answers.
 */
export function openApiDocument(routes: readonly RouteContract[]): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) }
  }
  const problem = schemaOf(problemSchema, 'output', components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heddle',
      version: '1',
      description: `The context engine for LLM agents. Every error is a problem document (RFC 9457) whose \`code\` is one of ${errorCodes.join(', ')}.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Where the document came from: a gateway does not know under which names proxies show it.
    servers: [{ url: '/', description: 'The gateway that gave this document.' }],
    tags: openApiTags,
    paths,
    security: [{ key: [] }, {}],
    components: {
      schemas: components,
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key of the project; on loopback none until it has one.',
        },
      },
      responses: refusalComponents(problem),
    },
  }
}

function operation(route: RouteContract, components: Json): Json {
  const { id, tag, summary, description } = route
  const body = route.method === 'PUT' || route.method === 'POST' ? route.body : null
  return {
    operationId: id,
    tags: [tag],
    summary,
    'x-permission': route.needs,
    ...(description !== undefined && { description }),
    parameters: [
      ...parameters('path', route.params, components),
      ...parameters('query', route.query, components),
      ...Object.entries(route.headers ?? {}).map(([name, text]) => ({
        name,
        in: 'header',
        required: false,
        description: text,
        schema: { type: 'string' },
      })),
    ],
    ...(body !== null && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': { schema: schemaOf(body, 'input', components) } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, { description: text, schema, headers }]) => [
          status,
          {
            description: text,
            ...(headers !== undefined && {
              headers: mapValues(headers, (meaning) => ({ description: meaning, schema: { type: 'string' } })),
            }),
            content: {
              [route.id === eventsContract.id ? 'text/event-stream' : 'application/json']: {
                schema: schemaOf(schema, 'output', components),
              },
            },
          },
        ]),
      ),
      ...refusalsOf(route),
    },
  }
}

function parameters(place: 'path' | 'query', schema: z.ZodType, components: Json): Json[] {
  // What a query is read as is a number or a list; that it comes as text goes without saying.
  const { properties = {} } = schemaOf(schema, 'output', components) as { properties?: Json }
  const fields = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {}
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: fields[name]?.safeParse(undefined).success !== true,
    ...((property as Json)['type'] === 'array' && { style: 'form', explode: false }),
    schema: property,
  }))
}

/** A schema as JSON Schema; those that have names go to the components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const { $schema, $defs, ...made } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    metadata: httpSchemas as unknown as NonNullable<z.core.ToJSONSchemaParams['metadata']>,
    target: 'draft-2020-12',
    // What schemas say of themselves, such as descriptions; the names of components stand in a registry of their own.
    override({ zodSchema, jsonSchema }) {
      Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
      // A field that tells forms apart may be left out: then it excludes none of them.
      if (jsonSchema.oneOf === undefined) return
      jsonSchema.anyOf = jsonSchema.oneOf
      delete jsonSchema.oneOf
    },
  }) as Json
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    components[name] = moved(definition)
  }
  const own = httpSchemas.get(schema)?.id
  if (own === undefined) return moved(made)
  if (made['$ref'] === undefined) components[own] = moved(made)
  return { $ref: `#/components/schemas/${own}` }
}

/** References lead to the components, and names are left to their keys there. */
function moved(schema: Json): Json {
  const { id: _, ...rest } = JSON.parse(
    JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as Json
  return rest
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
