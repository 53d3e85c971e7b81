export interface BackOff {
  /** The delay before the second attempt, in milliseconds. It doubles with each further one. */
  readonly firstMs: number
  /** The longest delay, in milliseconds. */
  readonly maxMs: number
  /**
   * The share of each delay that is random, 0 to 1, so that callers that failed together do not retry together. Default
   * 0.
   */
  readonly jitter?: number
}

/**
 * The delay before the next attempt.
 *
 * | what is retried | first | longest | jitter |
 * | --- | --- | --- | --- |
 * | a job whose handler threw (`queue/worker/retry`) | 0.1 to 1 s, by stage | 30 s | 0.5 |
 * | jobs that were not added because the server is away (`queue/send/stage-queue`) | 0.05 s | 2 s | |
 * | a connection to Redis that callers wait for (`queue/redis/connect`) | 0.1 s | 0.6 s | |
 * | any other connection to Redis (`queue/redis/connect`) | 0.2 s | 2 s | |
 * | the connection that listens to Postgres (`queue/postgres/listener`) | 0.1 s | 2 s | |
 * | an unacknowledged job (`engine/messages`) | 5 s | 60 s | |
 * | a followed session that could not be stored (`cli/importing/watch`) | 2 s | 60 s | |
 * | a call of a model's provider (`models/chat`) | 0.5 s | 20 s | |
 *
 * The client must not import this package; it has the same formula in `calls/retrying`: 0.1 s, 1 s, 0.5.
 *
 * @param tries number of failed attempts so far, from 0
 * @param random a number from 0 to 1
 */
export function backOffMs(tries: number, { firstMs, maxMs, jitter = 0 }: BackOff, random = Math.random): number {
  const wholeMs = Math.min(firstMs * 2 ** tries, maxMs)
  return wholeMs * (1 - jitter + jitter * random())
}
