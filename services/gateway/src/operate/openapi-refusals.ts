import type { ErrorCode, Operation } from '@heddle/contracts'

type Json = Record<string, unknown>

/** A problem document that many operations may answer with. */
interface RefusalAnswer {
  readonly name: string
  readonly status: number
  readonly codes: readonly ErrorCode[]
  readonly description: string
  /** Whether an operation may answer with it. Default: every operation. */
  readonly isOf?: (operation: Operation) => boolean
}

const changes = ({ method }: Operation) => method !== 'GET'
const takesBody = ({ method }: Operation) => method === 'PUT' || method === 'POST'
/** Every operation on contexts: reading a context whose build failed returns that error, too. */
const givesContext = ({ tag }: Operation) => tag === 'contexts'

const refusals: readonly RefusalAnswer[] = [
  {
    name: 'NotValid',
    status: 400,
    codes: ['VALIDATION_ERROR'],
    description: 'A value in the path, the query, the headers or the body is invalid; `field` names it.',
  },
  { name: 'NoAccess', status: 401, codes: ['UNAUTHORIZED'], description: 'The key is missing or invalid.' },
  {
    name: 'NotAllowed',
    status: 403,
    codes: ['FORBIDDEN'],
    description: 'The role of the key does not allow this; see `x-permission`.',
  },
  {
    name: 'NotFound',
    status: 404,
    codes: ['NOT_FOUND'],
    description: 'Something that the request names does not exist.',
  },
  {
    name: 'Contradicts',
    status: 409,
    codes: ['CONFLICT', 'AMBIGUOUS_REFERENCE'],
    description: 'It conflicts with stored data, or a reference matches more than one message.',
    isOf: changes,
  },
  {
    name: 'TooLarge',
    status: 413,
    codes: ['PAYLOAD_TOO_LARGE'],
    description: 'The body, or a value in it, is larger than its limit.',
    isOf: takesBody,
  },
  {
    name: 'NoJson',
    status: 415,
    codes: ['VALIDATION_ERROR'],
    description: 'The body is not declared as JSON in UTF-8.',
    isOf: takesBody,
  },
  {
    name: 'BudgetTooSmall',
    status: 422,
    codes: ['BUDGET_TOO_SMALL'],
    description: 'Not even the smallest context fits into the budget; `facts.needed` is the smallest budget.',
    isOf: givesContext,
  },
  {
    name: 'TooMany',
    status: 429,
    codes: ['RATE_LIMITED'],
    description: 'A limit of the project or of the server is reached.',
  },
]

/** The error answers of an operation, with a default for all others. */
export function refusalsOf(operation: Operation): Json {
  const own = refusals.filter(({ isOf }) => isOf === undefined || isOf(operation))
  return {
    ...Object.fromEntries(own.map(({ name, status }) => [status, { $ref: `#/components/responses/${name}` }])),
    default: { $ref: '#/components/responses/Problem' },
  }
}

/** The components that {@link refusalsOf} refers to. @param problem the schema of a problem document */
export function refusalComponents(problem: Json): Json {
  const content = { 'application/problem+json': { schema: problem } }
  const later = {
    headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait before a retry.' } },
  }
  const answers = refusals.map(({ name, status, codes, description }) => [
    name,
    {
      description: `${codes.map((code) => `\`${code}\``).join(', ')}: ${description}`,
      ...(status === 429 && later),
      content,
    },
  ])
  return {
    ...Object.fromEntries(answers),
    Problem: { description: 'The error; with 503 also the time to wait before a retry.', ...later, content },
  }
}
