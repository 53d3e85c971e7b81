import type { ServerResponse } from 'node:http'

/** A client that reads nothing of its answer for this long is disconnected. */
export const TAKE_MS_MAX = 60_000

/** For an answer that starts now. */
export function disconnectSlowReader(response: ServerResponse): void {
  response.setTimeout(TAKE_MS_MAX, () => response.destroy())
}

/** For an answer written elsewhere: measured from its headers on, because the work before them has its own time limits. */
export function disconnectSlowReaderFromHead(response: ServerResponse): void {
  const { writeHead } = response
  response.writeHead = ((...given: Parameters<typeof writeHead>) => {
    disconnectSlowReader(response)
    return writeHead.apply(response, given)
  }) as typeof writeHead
}
