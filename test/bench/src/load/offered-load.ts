import { Agent, request } from 'node:http'

/** One request, and how to judge its answer. */
export interface Ask {
  /** The group of its times, if they are reported separately. */
  readonly kind?: string
  readonly path: string
  /** Sent with POST; without one it is a GET. */
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** A stream, which is closed after this many milliseconds. */
  readonly readForMs?: number
  /** Whether an answer with the status 200 is a refusal, and its retry delay. */
  readRefusal?(text: string): { retryAfter?: string } | null
  /** Called when the server acknowledges the request. */
  onDone?(): void
}

export interface Answers {
  /** Milliseconds of each request, from its due time. */
  readonly doneMs: number[]
  /** The same by group. */
  readonly doneMsOf: Map<string, number[]>
  /** Milliseconds of each 429, from when it was sent. */
  readonly refusedMs: number[]
  /** The largest answer, in bytes. */
  bytesMax: number
  /** Refusals without a retry delay. */
  withoutRetryAfter: number
  /** By status; 0 where the connection broke. */
  readonly others: Map<number, number>
  /** Requests that were not sent because the limit of open ones was reached. */
  unsent: number
}

interface Answered {
  /** Times of refusals. */
  readonly retryAfterMs?: number
}

const CONNECTIONS_MAX = 400
const TICK_MS = 10
/** A caller that ignores `Retry-After` retries ten times as soon. */
const HASTY_PAUSE_MS = 100
const MS_PER_SECOND = 1_000

/** The retry delay of callers: as the refusal says, like SDKs, or a tenth of it. */
export type Manners = 'patient' | 'hasty'

/** A project that sends requests over HTTP, to its gateways round-robin. */
export class Asker {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX })
  readonly #urls: readonly URL[]
  readonly #key: string
  #next = 0

  constructor(urls: readonly string[], key: string) {
    this.#urls = urls.map((url) => new URL(url))
    this.#key = key
  }

  /** A fixed number of concurrent callers, each after the answer to its previous request: the capacity of the server. */
  async closed(makeAsk: () => Ask, atOnce: number, forMs: number, manners: Manners): Promise<Answers> {
    const answers = none()
    const endsAtMs = performance.now() + forMs
    const askOn = async () => {
      while (performance.now() < endsAtMs) {
        const { retryAfterMs } = await this.#ask(makeAsk(), performance.now(), answers)
        if (retryAfterMs === undefined) continue
        const pauseMs = manners === 'hasty' ? HASTY_PAUSE_MS : retryAfterMs
        const leftMs = endsAtMs - performance.now()
        await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, leftMs)))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, askOn))
    return answers
  }

  /** A fixed rate, whatever the results of earlier requests: the behaviour of users. */
  async open(makeAsk: () => Ask, perSecond: number, forMs: number): Promise<Answers> {
    const answers = none()
    const startedMs = performance.now()
    const underWay = new Set<Promise<Answered>>()
    let sent = 0
    for (let nowMs = startedMs; nowMs < startedMs + forMs; nowMs = performance.now()) {
      for (const due = Math.floor(((nowMs - startedMs) / 1_000) * perSecond); sent < due; sent++) {
        if (underWay.size >= CONNECTIONS_MAX) {
          answers.unsent++
          continue
        }
        const asked = this.#ask(makeAsk(), startedMs + (sent / perSecond) * 1_000, answers)
        underWay.add(asked)
        void asked.finally(() => underWay.delete(asked))
      }
      await new Promise((resolve) => setTimeout(resolve, TICK_MS))
    }
    await Promise.all(underWay)
    return answers
  }

  close(): void {
    this.#agent.destroy()
  }

  #ask({ path, body, onDone, ...how }: Ask, dueAtMs: number, answers: Answers): Promise<Answered> {
    const { hostname, port } = this.#urls[this.#next++ % this.#urls.length] as URL
    const text = body === undefined ? '' : JSON.stringify(body)
    const method = body === undefined ? 'GET' : 'POST'
    const headers = {
      ...how.headers,
      authorization: `Bearer ${this.#key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }
    const sentAtMs = performance.now()
    return new Promise((resolve) => {
      let isAnswered = false
      const onAnswer = (status: number, retryAfter?: string) => {
        if (isAnswered) return
        isAnswered = true
        const nowMs = performance.now()
        if (status === 200) {
          answers.doneMs.push(nowMs - dueAtMs)
          if (how.kind !== undefined) noteKind(answers, how.kind, nowMs - dueAtMs)
          onDone?.()
        } else if (status === 429) {
          answers.refusedMs.push(nowMs - sentAtMs)
          if (retryAfter === undefined) answers.withoutRetryAfter++
        } else answers.others.set(status, (answers.others.get(status) ?? 0) + 1)
        resolve(status === 429 ? { retryAfterMs: Number(retryAfter ?? 0) * MS_PER_SECOND } : {})
      }
      const asked = request({ agent: this.#agent, hostname, port, path, method, headers }, (response) => {
        const status = response.statusCode ?? 0
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (how.readRefusal !== undefined) chunks.push(chunk)
        })
        const onEnd = () => {
          answers.bytesMax = Math.max(answers.bytesMax, bytes)
          const refusal = status === 200 ? (how.readRefusal?.(Buffer.concat(chunks).toString()) ?? null) : null
          if (refusal === null) onAnswer(status, response.headers['retry-after'])
          else onAnswer(429, refusal.retryAfter)
        }
        if (status === 200 && how.readForMs !== undefined) {
          setTimeout(() => {
            onEnd()
            asked.destroy()
          }, how.readForMs)
        }
        response.once('end', onEnd)
        response.once('error', () => onAnswer(0))
      })
      asked.once('error', () => onAnswer(0))
      asked.end(text)
    })
  }
}

function none(): Answers {
  return {
    doneMs: [],
    doneMsOf: new Map(),
    refusedMs: [],
    bytesMax: 0,
    withoutRetryAfter: 0,
    others: new Map(),
    unsent: 0,
  }
}

function noteKind({ doneMsOf }: Answers, kind: string, ms: number): void {
  const times = doneMsOf.get(kind) ?? []
  times.push(ms)
  doneMsOf.set(kind, times)
}
