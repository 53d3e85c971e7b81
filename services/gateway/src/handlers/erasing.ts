import type { EraseOptions } from '@heddle/client/interface'
import type { ErasureResult } from '@heddle/contracts'
import type { Caller } from '../http/handler.js'
import { readPrefer } from '../http/prefer.js'

/** Erases within the request, or answers as soon as the data is hidden, as the caller prefers. */
export async function erase(
  { headers, query }: Pick<Caller, 'headers'> & { readonly query: { readonly reuse?: boolean | undefined } },
  work: (options: EraseOptions) => Promise<ErasureResult>,
) {
  const erased = await work({ wait: !readPrefer(headers['prefer']).respondAsync, reuse: query.reuse })
  return erased.finished ? ({ status: 200, body: erased } as const) : ({ status: 202, body: erased } as const)
}
