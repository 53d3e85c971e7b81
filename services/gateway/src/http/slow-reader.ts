import type { ServerResponse } from 'node:http'

/** A caller that takes nothing of its answer for so long is let go. */
export const TAKE_MS_MAX = 60_000

/** Of an answer that begins now. */
export function letGoOfSlowReader(response: ServerResponse): void {
  response.setTimeout(TAKE_MS_MAX, () => response.destroy())
}

/** Of an answer that others write: from its head on, since before it the caller waits for work, which has bounds of its own. */
export function letGoOfSlowReaderFromHead(response: ServerResponse): void {
  const { writeHead } = response
  response.writeHead = ((...given: Parameters<typeof writeHead>) => {
    letGoOfSlowReader(response)
    return writeHead.apply(response, given)
  }) as typeof writeHead
}
