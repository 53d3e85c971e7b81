import { Agent, request } from 'node:http'

/** One request, and what is to be known of its answer. */
export interface Ask {
  readonly path: string
  /** Sent with POST; without one it is a GET. */
  readonly body?: object
  /** Called where the server says that it has done it. */
  onDone?(): void
}

export interface Answers {
  /** Milliseconds of each, from when it was due. */
  readonly doneMs: number[]
  /** Milliseconds of each 429, from when it was sent. */
  readonly refusedMs: number[]
  /** Refusals that do not say when to come again. */
  withoutRetryAfter: number
  /** By status; 0 where the connection broke. */
  readonly others: Map<number, number>
  /** Due while as many as may be were under way already. */
  unsent: number
}

const CONNECTIONS_MAX = 400
const TICK_MS = 10

/** A project that asks over HTTP, at gateways in turn. */
export class Asker {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX })
  readonly #urls: readonly URL[]
  readonly #key: string
  #next = 0

  constructor(urls: readonly string[], key: string) {
    this.#urls = urls.map((url) => new URL(url))
    this.#key = key
  }

  /** As many at once as given, each after the answer to the one before: what the server can do. */
  async closed(makeAsk: () => Ask, atOnce: number, forMs: number): Promise<Answers> {
    const answers = none()
    const endsAtMs = performance.now() + forMs
    const askOn = async () => {
      while (performance.now() < endsAtMs) await this.#ask(makeAsk(), performance.now(), answers)
    }
    await Promise.all(Array.from({ length: atOnce }, askOn))
    return answers
  }

  /** So many each second, whatever becomes of those before: what users do. */
  async open(makeAsk: () => Ask, perSecond: number, forMs: number): Promise<Answers> {
    const answers = none()
    const startedMs = performance.now()
    const underWay = new Set<Promise<void>>()
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

  #ask({ path, body, onDone }: Ask, dueAtMs: number, answers: Answers): Promise<void> {
    const { hostname, port } = this.#urls[this.#next++ % this.#urls.length] as URL
    const text = body === undefined ? '' : JSON.stringify(body)
    const method = body === undefined ? 'GET' : 'POST'
    const headers = {
      authorization: `Bearer ${this.#key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }
    const sentAtMs = performance.now()
    return new Promise((resolve) => {
      const onAnswer = (status: number, retryAfter?: string) => {
        const nowMs = performance.now()
        if (status === 200) {
          answers.doneMs.push(nowMs - dueAtMs)
          onDone?.()
        } else if (status === 429) {
          answers.refusedMs.push(nowMs - sentAtMs)
          if (retryAfter === undefined) answers.withoutRetryAfter++
        } else answers.others.set(status, (answers.others.get(status) ?? 0) + 1)
        resolve()
      }
      const asked = request({ agent: this.#agent, hostname, port, path, method, headers }, (response) => {
        response.resume()
        response.once('end', () => onAnswer(response.statusCode ?? 0, response.headers['retry-after']))
        response.once('error', () => onAnswer(0))
      })
      asked.once('error', () => onAnswer(0))
      asked.end(text)
    })
  }
}

function none(): Answers {
  return { doneMs: [], refusedMs: [], withoutRetryAfter: 0, others: new Map(), unsent: 0 }
}
