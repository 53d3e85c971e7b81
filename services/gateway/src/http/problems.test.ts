import { ConflictError, errorCodes, HeddleError, notFound, PermanentError, RetryableError } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { problemOf, Refused, refusalOf } from './problems.js'

const statusOf = (error: unknown) => refusalOf(error).status

test('every code has an error status and a title', () => {
  for (const code of errorCodes) {
    const refusal = refusalOf(new HeddleError(code, 'why', 'give-up', { field: 'name' }))
    expect(refusal.status).toBeGreaterThanOrEqual(400)
    expect(problemOf(refusal, 'r1')).toMatchObject({ code, status: refusal.status, title: expect.any(String) })
  }
})

test('errors that the caller can correct keep their status, field and hint', () => {
  expect(statusOf(new ConflictError('another message has this id'))).toBe(409)
  expect(statusOf(new PermanentError('BUDGET_TOO_SMALL', 'it does not fit'))).toBe(422)
  expect(problemOf(refusalOf(notFound('thread', 'run', 'make it')), 'r1')).toEqual({
    type: 'urn:heddle:problem:not-found',
    title: 'That does not exist',
    status: 404,
    code: 'NOT_FOUND',
    detail: 'thread "run" was not found',
    field: 'thread',
    received: 'run',
    hint: 'make it',
    requestId: 'r1',
  })
})

test('retryable errors carry the time to retry', () => {
  const busy = new RetryableError('RATE_LIMITED', 'the queue is full', { retryAfter: 3 })
  expect(refusalOf(busy)).toMatchObject({ status: 429, data: { retryAfter: 3 } })
  expect(refusalOf(new RetryableError('SERVICE_UNAVAILABLE', 'away'))).toMatchObject({
    status: 503,
    data: { retryAfter: expect.any(Number) },
  })
  expect(refusalOf(notFound('thread', 'run')).data).not.toHaveProperty('retryAfter')
})

test('a server that refuses the login of Heddle is not reported as an error of the caller', () => {
  expect(statusOf(new PermanentError('UNAUTHORIZED', 'Postgres refused the login'))).toBe(503)
  expect(statusOf(new PermanentError('FORBIDDEN', 'Postgres refused'))).toBe(503)
  expect(statusOf(new PermanentError('FORBIDDEN', 'project "b" may not be read', { field: 'ref' }))).toBe(403)
})

test('details of unexpected errors are not disclosed', () => {
  for (const error of [new TypeError('the secret is swordfish'), 'swordfish', null, undefined]) {
    const problem = problemOf(refusalOf(error), 'r1')
    expect(problem).toMatchObject({ status: 500, code: 'INTERNAL', requestId: 'r1' })
    expect(JSON.stringify(problem)).not.toContain('swordfish')
  }
  const own = new RetryableError('INTERNAL', 'the secret is swordfish')
  expect(JSON.stringify(problemOf(refusalOf(own), 'r1'))).not.toContain('swordfish')
})

test('a refusal may have a status of its own', () => {
  const refused = new Refused(
    { code: 'VALIDATION_ERROR', detail: 'method' },
    { status: 405, headers: { allow: 'GET' } },
  )
  expect(refusalOf(refused)).toMatchObject({ status: 405, headers: { allow: 'GET' } })
})
