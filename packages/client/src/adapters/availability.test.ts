import { type HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Availability } from './availability.js'

/** Calls after a failure go on without Heddle for this long, in milliseconds. */
const PAUSE_MS = 5_000
/** Of what an agent may wait in a call while Heddle is away, in milliseconds. */
const CALL_MS_MAX = 100

/** A Heddle that accepts connections and never answers: each wait ends at once, and its milliseconds are recorded. */
function startHung() {
  const waitsMs: number[] = []
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    waitsMs.push(ms)
    return AbortSignal.abort(new DOMException('too late', 'TimeoutError'))
  })
  onTestFinished(() => timeout.mockRestore())
  return waitsMs
}

/** An availability whose clock the test sets, and the errors that it reported. */
function open(options: { readonly url?: string; readonly deadlineMs?: number } = {}) {
  const reported: HeddleError[] = []
  const clock = { nowMs: 0 }
  const availability = new Availability(
    {
      ...(options.url === undefined && { client: {} as never }),
      ...options,
      now: () => clock.nowMs,
      onAway: (error) => void reported.push(error),
    },
    'It goes on.',
  )
  return { availability, reported, clock }
}

const refused = (code: 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND') => async () => {
  throw new PermanentError(code, 'authorization: this key is unknown or was revoked')
}
const away = async () => {
  throw new RetryableError('SERVICE_UNAVAILABLE', 'the gateway does not answer')
}

test('after a failure nothing is tried for five seconds, and then once', async () => {
  const { availability, reported, clock } = open()
  const work = vi.fn(away)
  for (let call = 0; call < 50; call++) expect(await availability.attempt(work)).toBeNull()
  expect(work).toHaveBeenCalledTimes(1)
  clock.nowMs += PAUSE_MS
  for (let call = 0; call < 50; call++) expect(await availability.attempt(work)).toBeNull()
  expect(work).toHaveBeenCalledTimes(2)
  expect(reported).toHaveLength(1)
})

test('a server that does not answer is waited for until the deadline once, and then within the time of a call', async () => {
  const waitsMs = startHung()
  const { availability, reported, clock } = open({ url: 'http://127.0.0.1:9', deadlineMs: 2_000 })
  const work = vi.fn(async () => 'done')
  expect(await availability.attempt(work)).toBeNull()
  expect(waitsMs.splice(0)).toEqual([expect.any(Number), 2_000])
  for (let outage = 0; outage < 3; outage++) {
    clock.nowMs += PAUSE_MS
    for (let call = 0; call < 10; call++) expect(await availability.attempt(work)).toBeNull()
    const [first = Number.POSITIVE_INFINITY, ...others] = waitsMs.splice(0)
    expect(others).toEqual([])
    expect(first).toBeLessThan(CALL_MS_MAX)
  }
  expect(work).not.toHaveBeenCalled()
  expect(reported).toMatchObject([{ code: 'TIMEOUT' }])
})

test('the end of a process waits until the deadline, even shortly after a failure', async () => {
  const waitsMs = startHung()
  const { availability } = open({ url: 'http://127.0.0.1:9', deadlineMs: 2_000 })
  await availability.attempt(async () => 'done')
  waitsMs.length = 0
  expect(await availability.attempt(async () => 'done', { isLast: true })).toBeNull()
  expect(waitsMs).toContain(2_000)
})

test('a connection that is refused is an error of its own type, and its cause is kept', async () => {
  const { availability, reported } = open({ url: 'http://127.0.0.1:9' })
  expect(await availability.attempt(async () => 'done')).toBeNull()
  expect(reported).toMatchObject([{ name: 'RetryableError', code: 'SERVICE_UNAVAILABLE', cause: expect.any(Error) }])
})

test.each(['UNAUTHORIZED', 'FORBIDDEN'] as const)(
  'a key that is refused with %s is reported once, and apart',
  async (code) => {
    const { availability, reported, clock } = open()
    await availability.attempt(away)
    for (let attempt = 0; attempt < 3; attempt++) {
      clock.nowMs += PAUSE_MS
      expect(await availability.attempt(refused(code))).toBeNull()
    }
    expect(reported.map((error) => [error.name, error.code])).toEqual([
      ['RetryableError', 'SERVICE_UNAVAILABLE'],
      ['PermanentError', code],
    ])
  },
)

test('what is reported once is reported again after a call has succeeded', async () => {
  const { availability, reported, clock } = open()
  for (const work of [refused('UNAUTHORIZED'), async () => 'done', refused('UNAUTHORIZED')]) {
    await availability.attempt(work)
    clock.nowMs += PAUSE_MS
  }
  expect(reported).toHaveLength(2)
})

test('an error of any other kind is reported with its words and as its cause', async () => {
  const { availability, reported } = open()
  const cause = new TypeError('no such field')
  await availability.attempt(() => Promise.reject(cause))
  expect(reported).toMatchObject([{ code: 'INTERNAL', message: 'no such field', cause }])
})

test.each([
  [refused('UNAUTHORIZED'), 'Heddle refused the key (authorization: this key is unknown or was revoked). It goes on.'],
  [refused('NOT_FOUND'), 'Heddle refused a request (authorization: this key is unknown or was revoked). It goes on.'],
  [away, 'Heddle is not available (the gateway does not answer). It goes on.'],
])('without a callback a warning names the reason', async (work, warning) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  await new Availability({ client: {} as never }, 'It goes on.').attempt<never>(work)
  expect(warn.mock.calls).toEqual([[warning]])
})
