import type { RequestListener } from 'node:http'
import { rejectMalformed } from './reject-malformed.js'

/** Refuses requests whose bodies take too long to arrive, as Node's own timeout does for all requests of a server. */
export function limitArrival(listener: RequestListener, arrivalMsMax: number): RequestListener {
  return (request, response) => {
    const timer = setTimeout(() => {
      if (request.complete) return
      const error = Object.assign(new Error('the request took too long'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      rejectMalformed(error, request.socket)
    }, arrivalMsMax).unref()
    request.once('close', () => clearTimeout(timer))
    listener(request, response)
  }
}
