import { PermanentError, RetryableError } from '@heddle/contracts'
import { describe, expect, it } from 'vitest'
import { isServerAway, namedError } from './errors.js'

const withCode = (code: string, text = 'refused by the driver') => Object.assign(new Error(text), { code })

describe('errors of the drivers', () => {
  it('that mean that the server is down are retryable', () => {
    for (const error of [
      withCode('ECONNREFUSED', ''),
      withCode('57P01', 'terminating connection due to administrator command'),
      withCode('57P03', 'the database system is starting up'),
      withCode('53300', 'sorry, too many clients already'),
      new Error('Connection is closed.'),
      new Error(
        'Reached the max retries per request limit (which is 5). Refer to "maxRetriesPerRequest" option for details.',
      ),
      new Error("OOM command not allowed when used memory > 'maxmemory'."),
      new Error('Connection terminated unexpectedly'),
    ]) {
      expect(isServerAway(error), error.message).toBe(true)
      expect(namedError(error, 'Postgres')).toMatchObject({ code: 'SERVICE_UNAVAILABLE', cause: error })
      expect(namedError(error, 'Postgres')).toBeInstanceOf(RetryableError)
    }
  })

  it('that mean a refusal are permanent, with a hint', () => {
    expect(namedError(withCode('28P01', 'password authentication failed'), 'Postgres')).toBeInstanceOf(PermanentError)
    expect(namedError(withCode('28P01'), 'Postgres')).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(namedError(new Error('NOAUTH Authentication required.'), 'Redis')).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(namedError(withCode('42501'), 'Postgres')).toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('heddle migrate'),
    })
  })

  it('of any other kind are returned unchanged', () => {
    const error = new TypeError('a fault of our own')
    expect(namedError(error, 'Redis')).toBe(error)
    expect(isServerAway(error)).toBe(false)
  })
})
