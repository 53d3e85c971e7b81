import { bounds } from '../base/bounds.js'

/** The part of a socket that is watched. */
export interface WatchedStream {
  readonly bytesWritten: number
  on(event: 'data', listener: () => void): unknown
  once(event: 'close', listener: () => void): unknown
  destroy(error: Error): unknown
}

const LOOK_EVERY_MS = 1_000

/**
 * Drops a connection whose server has sent nothing for {@link bounds.silentMs} since it was written to: one that vanished behind
 * a cut network closes nothing. An idle connection stays, and none keeps the process alive. (The option `socketTimeout` of ioredis
 * does, after its connection was closed, and may then drop the next one.)
 */
export function dropWhenSilent(stream: WatchedStream): void {
  let answered = stream.bytesWritten
  let writtenAtMs: number | null = null
  stream.on('data', () => {
    answered = stream.bytesWritten
    writtenAtMs = null
  })
  const looks = setInterval(() => {
    if (stream.bytesWritten === answered) return
    writtenAtMs ??= performance.now()
    if (performance.now() - writtenAtMs >= bounds.silentMs) stream.destroy(new Error('Redis does not answer'))
  }, LOOK_EVERY_MS)
  looks.unref()
  stream.once('close', () => clearInterval(looks))
}
