import type { ServerResponse } from 'node:http'
import { RetryableError } from '@heddle/contracts'

/** Bytes of the bodies that one process holds at once: some of the largest, or thousands of usual ones. */
const BYTES_MAX = 512 * 1024 * 1024

/** Room for the bodies of requests that are under way, each of which stands in memory as a whole. */
export class BodyRoom {
  #held = 0

  /**
   * Takes room for a body until its request is answered.
   *
   * @param bytesMax what its route takes; what a request holds that does not say how long it is
   * @throws RetryableError `RATE_LIMITED` before anything of it is read
   */
  take(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    bytesMax: number,
    response: ServerResponse,
  ): void {
    const isUnknown = headers['transfer-encoding'] !== undefined
    const bytes = isUnknown ? bytesMax : Math.min(Number(headers['content-length'] ?? 0), bytesMax)
    if (bytes === 0) return
    if (this.#held + bytes > BYTES_MAX) {
      throw new RetryableError('RATE_LIMITED', `requests of ${BYTES_MAX / 1024 / 1024} MiB are under way already`, {
        retryAfter: 1,
        hint: 'Send less at once.',
      })
    }
    this.#held += bytes
    response.once('close', () => {
      this.#held -= bytes
    })
  }
}
