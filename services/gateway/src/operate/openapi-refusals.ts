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
    description: 'Something in the path, the query, the headers or the body breaks a rule; `field` names it.',
  },
  { name: 'NoAccess', status: 401, codes: ['UNAUTHORIZED'], description: 'The key is missing, or is none.' },
  {
    name: 'NotAllowed',
    status: 403,
    codes: ['FORBIDDEN'],
    description: 'The role of the key does not allow this; see `x-permission`.',
  },
  { name: 'NotFound', status: 404, codes: ['NOT_FOUND'], description: 'What the request names is not there.' },
  {
    name: 'Contradicts',
    status: 409,
    codes: ['CONFLICT', 'AMBIGUOUS_REFERENCE'],
    description: 'It contradicts what is stored, or a reference fits more than one message.',
    isOf: changes,
  },
  {
    name: 'TooLarge',
    status: 413,
    codes: ['PAYLOAD_TOO_LARGE'],
    description: 'The body, or something in it, is larger than its limit.',
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
    description: 'Not even the smallest context fits into the budget; `facts.needed` says what does.',
    isOf: givesContext,
  },
  {
    name: 'TooMany',
    status: 429,
    codes: ['RATE_LIMITED'],
    description: 'Too much is under way already.',
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
    headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds after which to come again.' } },
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
    Problem: { description: 'Why it was not done; of 503 with the time to come again.', ...later, content },
  }
}
