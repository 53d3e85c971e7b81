import {
  errorCodes,
  httpSchemas,
  type Operation,
  type OperationAnswer,
  operationTags,
  problemSchema,
} from '@heddle/contracts'
import { z } from 'zod'
import { refusalComponents, refusalsOf } from './openapi-refusals.js'

type Json = Record<string, unknown>

/**
 * The OpenAPI 3.1 document of a table of operations. Its schemas are derived from those that parse requests, so they cannot
 * differ; rules that JSON Schema cannot express are left to the error messages.
 */
export function openApiDocument(operations: Readonly<Record<string, Operation>>): Json {
  const components: Json = {}
  const paths: Record<string, Json> = {}
  for (const [id, operation] of Object.entries(operations)) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described(id, operation, components) }
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
    // Relative to the document's own address: a gateway does not know its names behind proxies.
    servers: [{ url: '/', description: 'The gateway that served this document.' }],
    tags: operationTags,
    paths,
    security: [{ key: [] }, {}],
    components: {
      schemas: components,
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key of the project; not required on loopback until the project has a key.',
        },
      },
      responses: refusalComponents(problem),
    },
  }
}

function described(id: string, operation: Operation, components: Json): Json {
  const { tag, summary, needs, description, params, query, headers = {}, body, bodyMediaType, answers } = operation
  return {
    operationId: id,
    tags: [tag],
    summary,
    'x-permission': needs,
    description,
    parameters: [
      ...parameters('path', params, components),
      ...parameters('query', query, components),
      ...Object.entries(headers).map(([name, text]) => ({
        name,
        in: 'header',
        required: false,
        description: text,
        schema: { type: 'string' },
      })),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { [bodyMediaType ?? 'application/json']: { schema: schemaOf(body, 'input', components) } },
      },
    }),
    responses: { ...mapValues(answers, (answer) => answered(answer, components)), ...refusalsOf(operation) },
  }
}

function answered({ description, schema, headers, mediaType = 'application/json' }: OperationAnswer, components: Json) {
  return {
    description,
    ...(headers !== undefined && {
      headers: mapValues(headers, (meaning) => ({ description: meaning, schema: { type: 'string' } })),
    }),
    content: { [mediaType]: { schema: schemaOf(schema, 'output', components) } },
  }
}

function parameters(place: 'path' | 'query', schema: z.ZodType, components: Json): Json[] {
  // A query field is documented as the number or list it is parsed to, although it is sent as text.
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
    // Metadata of schemas, such as descriptions; component names have a registry of their own.
    override({ zodSchema, jsonSchema }) {
      Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
      // A discriminating field may be absent: then it excludes no variant.
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

/** Points references to the components, and removes names, which are the keys there. */
function moved(schema: Json): Json {
  const { id: _, ...rest } = JSON.parse(
    JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as Json
  return rest
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
