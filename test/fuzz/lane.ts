import { errorCodes } from '@heddle/contracts'
import { type MalformedRequest, malformedRequest } from '../pipeline/doors/http-malformed.js'
import type { OpenApi } from '../pipeline/doors/http-support.js'
import type { Random } from './random.js'
import { type RawForm, rawForm } from './raw-forms.js'
import { bytesOf, Wire, type WireAnswer } from './wire.js'

/** One request in this many has its own connection, for bytes that are not a request. */
const RAW_ONE_IN = 25
/** Valid requests cause work, also for the workers: the others are sent at many times the rate. */
const BROKEN_SHARE = 0.96
const FAULTS_KEPT_MAX = 20

/** The results of all requests so far. */
export interface Tally {
  readonly statuses: Map<number, number>
  readonly codes: Map<string, number>
  readonly faults: string[]
  faulty: number
  done: number
}

/** One connection, kept open as long as the server keeps it. */
export class Lane {
  readonly #origin: { readonly hostname: string; readonly port: number }
  readonly #tally: Tally
  #wire: Wire | null = null

  constructor(url: string, tally: Tally) {
    const { hostname, port } = new URL(url)
    this.#origin = { hostname, port: Number(port) }
    this.#tally = tally
  }

  async askAll(document: OpenApi, numbered: readonly (readonly [number, Random])[]): Promise<void> {
    const whole: { index: number; asked: MalformedRequest; bytes: Buffer; isHead: boolean }[] = []
    for (const [index, random] of numbered) {
      const isRaw = random.oneIn(RAW_ONE_IN)
      const asked = malformedRequest(document, random, BROKEN_SHARE)
      const bytes = bytesOf(asked)
      if (isRaw) await this.#askRaw(index, rawForm(random, bytes))
      else whole.push({ index, asked, bytes, isHead: asked.method === 'HEAD' })
    }
    for (let left = whole; left.length > 0; ) {
      if (this.#wire === null || this.#wire.isOver) {
        this.#wire?.close()
        this.#wire = new Wire(this.#origin)
      }
      const answers = await this.#askSome(this.#wire, left)
      const answered = left.filter((_, at) => answers[at] !== null)
      // Requests behind a refusal that closes the connection were not read; the first must have an answer.
      if (answered.length === 0) {
        const [{ index, asked }] = left as [(typeof left)[number]]
        noteFault(this.#tally, `request ${index}: closed without an answer: ${JSON.stringify(asked).slice(0, 600)}`)
      }
      for (const [at, { index, asked, isHead }] of left.entries()) {
        const answer = answers[at]
        if (answer !== null && answer !== undefined) judge(this.#tally, index, asked, answer, isHead)
      }
      left = left.filter((_, at) => answers[at] === null && !(at === 0 && answered.length === 0))
    }
  }

  close(): void {
    this.#wire?.close()
  }

  async #askSome(
    wire: Wire,
    requests: readonly { index: number; bytes: Buffer; isHead: boolean }[],
  ): Promise<(WireAnswer | null)[]> {
    try {
      return await wire.ask(requests)
    } catch (error) {
      noteFault(this.#tally, `requests from ${requests[0]?.index} on: ${(error as Error).message}`)
      return requests.map(() => ({ status: 0, headers: {}, text: '' }))
    }
  }

  async #askRaw(index: number, form: RawForm): Promise<void> {
    const wire = new Wire(this.#origin)
    try {
      const text = form.bytes.toString('latin1')
      // Bytes that end before the end of their head are not a request yet, whatever the method.
      const isHead = text.startsWith('HEAD ') && text.includes('\r\n\r\n')
      const asking = wire.ask([{ bytes: form.bytes, isHead }])
      if (form.isCut || form.name === 'noise') wire.halfClose()
      const [answer = null] = await asking
      if (answer !== null) judge(this.#tally, index, form, answer, isHead)
      else if (form.isAnswered) noteFault(this.#tally, `request ${index}: ${form.name} was left without an answer`)
      else count(this.#tally.statuses, 0)
    } catch (error) {
      noteFault(this.#tally, `request ${index}: ${form.name}: ${(error as Error).message}`)
    } finally {
      wire.close()
    }
  }
}

function judge(
  tally: Tally,
  index: number,
  asked: MalformedRequest | RawForm,
  answer: WireAnswer,
  isHead: boolean,
): void {
  count(tally.statuses, answer.status)
  const fault = faultOf(answer, isHead, tally.codes)
  if (fault === null) return
  const shown = 'bytes' in asked ? { form: asked.name, bytes: asked.bytes.toString('latin1') } : asked
  noteFault(tally, `request ${index}: ${fault}: ${JSON.stringify(shown).slice(0, 600)}`)
}

/** The fault of an answer; null for a correct one. */
function faultOf({ status, headers, text }: WireAnswer, isHead: boolean, codes: Tally['codes']): string | null {
  if (status === 0 || status >= 500) return `${status} ${text.slice(0, 300)}`
  if (status < 400) return null
  if (headers['content-type']?.startsWith('application/problem+json') !== true)
    return `${status} is no problem document`
  if (isHead) return null
  try {
    const problem = JSON.parse(text) as { status: unknown; code: unknown; title: unknown; detail: unknown }
    const isWhole = problem.status === status && typeof problem.title === 'string' && typeof problem.detail === 'string'
    if (!isWhole || !(errorCodes as readonly unknown[]).includes(problem.code))
      return `a problem document that is none: ${text.slice(0, 300)}`
    if (status === 429 && headers['retry-after'] === undefined) return '429 without Retry-After'
    count(codes, String(problem.code))
    return null
  } catch {
    return `a problem document that is no JSON: ${text.slice(0, 300)}`
  }
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

export function noteFault(tally: Tally, fault: string): void {
  tally.faulty++
  if (tally.faults.length < FAULTS_KEPT_MAX) tally.faults.push(fault)
}
