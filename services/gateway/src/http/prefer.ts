import { limits } from '@heddle/contracts'
import { Refused } from './problems.js'

/** What a caller would like of an answer (RFC 7240). */
export interface Preferences {
  readonly respondAsync: boolean
  /** How long it waits for the answer, in milliseconds. */
  readonly waitMs: number | undefined
  /** The ids in the body were made for this very request, so none of them is stored yet. */
  readonly idsAreNew: boolean
}

/** Unknown preferences are passed over, as the standard has it; a wait that cannot be meant is refused. */
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
