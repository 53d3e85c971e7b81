import { limits } from '@heddle/contracts'
import { Refused } from './problems.js'

/** Preferences of a caller for its answer (RFC 7240). */
export interface Preferences {
  readonly respondAsync: boolean
  /** Longest wait for the answer. */
  readonly waitMs: number | undefined
  /** The ids in the body were generated for this request, so no stored message has one of them. */
  readonly idsAreNew: boolean
}

/** Ignores unknown preferences, as the standard requires; refuses an invalid wait. */
export function readPrefer(header: string | readonly string[] | undefined): Preferences {
  const given = (header === undefined ? [] : [header].flat()).join(',')
  let respondAsync = false
  let waitMs: number | undefined
  let idsAreNew = false
  for (const preference of given.split(',')) {
    const [name = '', value = ''] = preference.split(';', 1).join('').split('=')
    if (/^respond-async$/i.test(name.trim())) respondAsync = true
    if (/^ids-are-new$/i.test(name.trim()) && value.trim() === '') idsAreNew = true
    if (/^wait$/i.test(name.trim())) waitMs = readWait(value.trim())
  }
  return { respondAsync, waitMs, idsAreNew }
}

function readWait(value: string): number {
  const seconds = /^"?(\d{1,6})"?$/.exec(value)?.[1]
  const waitMs = Number(seconds ?? Number.NaN) * 1_000
  if (waitMs >= 1 && waitMs <= limits.waitMsMax) return waitMs
  throw new Refused({
    code: 'VALIDATION_ERROR',
    detail: `prefer: wait must be a whole number of seconds from 1 to ${limits.waitMsMax / 1_000}`,
    field: 'prefer',
    received: JSON.stringify(value.slice(0, 80)),
  })
}
