import type { Random } from '../../fuzz/random.js'
import { text } from '../../fuzz/values.js'
import type { JsonSchema, OpenApi, Operation } from './http-support.js'

export interface MalformedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
}

/**
 * A request that the document mostly allows, with something invalid in it.
 *
 * @param brokenShare of this many requests one is invalid as a whole, too
 */
export function malformedRequest(document: OpenApi, random: Random, brokenShare = 1 / 3): MalformedRequest {
  const [pattern, operations] = random.pick(pathsOf(document))
  const [method, operation] = random.pick(operations)
  const good = new Values(document, random)
  const headers: Record<string, string> = {}
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const schema = operation.parameters.find((parameter) => parameter.name === name)?.schema ?? {}
    return encoded(random, random.oneIn(6) ? text(random) : String(good.value(schema)))
  })
  const query = queryOf(operation, good, random)
  const schema = operation.requestBody?.content['application/json']?.schema
  let body: string | Buffer | undefined
  if (schema !== undefined && !random.oneIn(20)) {
    headers['content-type'] = 'application/json'
    const value = good.value(schema)
    body = JSON.stringify(random.oneIn(4) ? value : mutated(value, random)) ?? 'undefined'
  }
  for (const { name } of operation.parameters.filter((parameter) => parameter.in === 'header')) {
    if (random.oneIn(4)) headers[name] = headerValue(random)
  }
  const asked = { method: method.toUpperCase(), path: `${path}${query}`, headers, body }
  return random.fraction() < brokenShare ? broken(asked, random) : asked
}

/**
 * After a first key of the project the gateway would refuse every further request without one, and a paused stage does
 * nothing.
 */
const LEFT_OUT = ['createKey', 'pauseStage']

function pathsOf({ paths }: OpenApi): [string, [string, Operation][]][] {
  return Object.entries(paths).flatMap(([pattern, operations]) => {
    const tried = Object.entries(operations).filter(([, { operationId }]) => !LEFT_OUT.includes(operationId))
    return tried.length === 0 ? [] : [[pattern, tried]]
  })
}

function queryOf(operation: Operation, good: Values, random: Random): string {
  const fields = operation.parameters
    .filter((parameter) => parameter.in === 'query' && random.oneIn(2))
    .map(({ name, schema }) => [name, random.oneIn(3) ? text(random) : String(good.value(schema))])
  if (random.oneIn(15)) fields.push([text(random), text(random)])
  if (random.oneIn(15) && fields[0] !== undefined) fields.push(fields[0])
  const joined = fields.map(([name = '', value = '']) => `${encoded(random, name)}=${encoded(random, value)}`)
  return joined.length === 0 ? '' : `?${joined.join('&')}`
}

/** Invalid as a whole: another method, another form of the body, another path. */
function broken(asked: MalformedRequest, random: Random): MalformedRequest {
  const { headers, body } = asked
  // A change to an unused body has no effect.
  const takesBody = asked.method === 'POST' || asked.method === 'PUT'
  switch (takesBody ? random.whole(0, 11) : random.pick([0, 4, 5, 6, 10, 10, 10])) {
    case 0:
      return { ...asked, method: random.pick(['PATCH', 'OPTIONS', 'HEAD', 'POST', 'DELETE', 'PUT', 'TRACE', 'PURGE']) }
    case 1:
      return { ...asked, body: String(body).slice(0, random.whole(0, String(body).length)), headers: json(headers) }
    case 2:
      return { ...asked, body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), headers: json(headers) }
    case 3: {
      const types = [
        'text/plain',
        'application/xml',
        'multipart/form-data',
        'application/json; charset=utf-16',
        'x',
        '/',
      ]
      return { ...asked, body: body ?? '{}', headers: { ...headers, 'content-type': random.pick(types) } }
    }
    case 4:
      return { ...asked, path: `${asked.path}${random.pick(['%', '%ff', '/', '//', '/..', '%00', '?%', '#', ';a=b'])}` }
    case 5:
      return { ...asked, path: `/${encoded(random, text(random))}` }
    case 6:
      return { ...asked, headers: { ...headers, [random.pick(['origin', 'host'])]: headerValue(random) } }
    case 7:
      return { ...asked, body: '['.repeat(random.whole(1, 50_000)), headers: json(headers) }
    case 8:
      return {
        ...asked,
        body: random.pick(['null', '""', '0', '[]', 'NaN', "{'a':1}", '{}{}', '']),
        headers: json(headers),
      }
    case 10: {
      const [name, value] = [
        random.pick(['limit', 'cursor', 'order', '__proto__', 'constructor', text(random, 2)]),
        random.pick(['-1', '1e9', 'null', '[]', '%00', '%ff', encoded(random, text(random))]),
      ]
      const given = `${encoded(random, name)}=${value}`
      return { ...asked, path: `${asked.path}${asked.path.includes('?') ? '&' : '?'}${given}&${given}` }
    }
    case 11:
      return { ...asked, body: huge(random), headers: json(headers) }
    default:
      return { ...asked, headers: { ...headers, 'content-encoding': random.pick(['gzip', 'br', 'identity', 'x']) } }
  }
}

/** Larger than most routes accept, or of very many parts. */
function huge(random: Random): string {
  if (!random.oneIn(20)) return `{"a":${'{"a":'.repeat(random.whole(10, 5_000))}`
  return random.oneIn(2) ? JSON.stringify('x'.repeat(random.whole(200_000, 400_000))) : `[${'0,'.repeat(100_000)}0]`
}

function json(headers: MalformedRequest['headers']): Record<string, string> {
  return { ...headers, 'content-type': 'application/json' }
}

function headerValue(random: Random): string {
  const values = [
    '',
    '0',
    '-1',
    'wait=0',
    'wait=60',
    'respond-async',
    'wait=99999',
    'null',
    'http://evil.example',
    '::',
    '1e9',
  ]
  return random.oneIn(3) ? text(random).replace(/[^\x20-\x7e]/g, '?') : random.pick(values)
}

/** Some callers encode too little. Characters that no client would send are encoded all the same. */
function encoded(random: Random, given: string): string {
  const whole = encodeURIComponent(given.toWellFormed())
  return random.oneIn(12) ? encodeURI(given.toWellFormed()).replace(/[?#]/g, '') : whole
}

type Json = unknown

/** Inserts an invalid value into one place of a value. */
function mutated(value: Json, random: Random): Json {
  if (value !== null && typeof value === 'object' && !random.oneIn(4)) {
    const keys = Object.keys(value)
    if (keys.length === 0 || random.oneIn(8)) return { ...value, [text(random, 2)]: bad(random) }
    const key = random.pick(keys)
    const held = (value as Record<string, Json>)[key]
    if (Array.isArray(value)) return value.map((each, index) => (String(index) === key ? mutated(each, random) : each))
    if (random.oneIn(6)) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
    return { ...value, [key]: mutated(held, random) }
  }
  return bad(random)
}

function bad(random: Random): Json {
  return random.pick([
    () => null,
    () => true,
    () => -1,
    () => 1e300,
    () => 0.5,
    () => '',
    () => text(random),
    () => text(random, 200),
    () => [],
    () => ({}),
    () => [[[[null]]]],
    () => JSON.parse('{"__proto__":{"a":1},"constructor":1,"length":-1}'),
    () => 'x'.repeat(random.whole(1, 5_000)),
    () => random.uuid(),
    () => '9999-12-31T23:59:59Z',
    () => Number.MAX_SAFE_INTEGER,
  ])()
}

/** Names that requests share, so that many of them find something. */
const NAMES = ['a', 'b', 'run', 'thread/1']

/** Values as the document describes them. */
class Values {
  readonly #document: OpenApi
  readonly #random: Random

  constructor(document: OpenApi, random: Random) {
    this.#document = document
    this.#random = random
  }

  value(schema: JsonSchema, depth = 0): Json {
    const random = this.#random
    const { $ref, type, anyOf, properties = {}, required = [], items, pattern, format } = schema
    const choices = (schema['enum'] ?? anyOf ?? schema['oneOf']) as readonly Json[] | undefined
    if (typeof $ref === 'string') {
      return this.value(this.#document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, depth)
    }
    if ('const' in schema) return schema['const']
    if (schema['enum'] !== undefined) return random.pick(choices ?? [])
    if (choices !== undefined) return this.value(random.pick(choices) as JsonSchema, depth)
    if (type === 'object') {
      const isGiven = (name: string) => (required as readonly string[]).includes(name) || random.oneIn(depth + 2)
      const fields = Object.entries(properties as Record<string, JsonSchema>).filter(([name]) => isGiven(name))
      return Object.fromEntries(fields.map(([name, each]) => [name, this.value(each, depth + 1)]))
    }
    if (type === 'array') return random.list(1, 3, () => this.value((items ?? {}) as JsonSchema, depth + 1))
    if (type === 'integer' || type === 'number') return random.whole(this.#least(schema), this.#least(schema) + 20)
    if (type === 'boolean') return random.oneIn(2)
    if (type === 'null') return null
    if (type !== 'string') return random.oneIn(2) ? { path: 'src/a.ts', depth: [1, { b: null }] } : 'text'
    if (format === 'uuid') return random.uuid()
    if (format === 'date-time') return '2026-02-12T14:30:00Z'
    if (typeof pattern === 'string' && pattern.includes('smhdw')) return '1h'
    return random.oneIn(8) ? text(random) : random.pick(NAMES)
  }

  #least(schema: JsonSchema): number {
    return typeof schema['minimum'] === 'number' ? Math.max(schema['minimum'], 0) : 1
  }
}
