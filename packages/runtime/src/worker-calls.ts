import { Worker } from 'node:worker_threads'
import { type ErrorData, errorData, RetryableError } from '@heddle/contracts'
import { type Clock, systemClock } from './clock.js'
import { within } from './timeout.js'

export interface WorkerCallsOptions<Question = never> {
  /** A JavaScript module that posts a {@link WorkerAnswer} for each {@link WorkerMessage}, and ends when it receives null. */
  url: URL
  /** The data of each thread that is started. */
  workerData: () => unknown
  /** For messages: "the embedding thread". */
  subject: string
  /** Timeout of a call, including its wait for earlier ones, in milliseconds; then the thread is terminated. */
  callTimeoutMs: number
  clock?: Pick<Clock, 'after'>
  /** Timeout for a thread to end by itself, in milliseconds; then it is terminated. */
  closeTimeoutMs: number
  /** Megabytes of new objects before the thread collects its garbage. Default: Node's, which is 48. */
  youngHeapMegabytesMax?: number
  /** Answers the thread's questions to this one. Default: the thread has no questions. */
  answer?: (question: Question) => Promise<unknown>
}

/** Calls to a worker thread, which starts with the first call and, if it died, with the next one. */
export interface WorkerCalls<Request, Response> {
  /**
   * @throws RetryableError `SERVICE_UNAVAILABLE` if the thread died or was closed meanwhile, `TIMEOUT` for all of its
   * calls if one took too long; WorkerFailure if it reported a failure; the signal's reason once it is aborted (the
   * thread still finishes what it has begun)
   */
  call(request: Request, signal?: AbortSignal): Promise<Response>
  /** Number of unanswered calls. */
  readonly pendingCount: number
  /** Ends the thread after its current work and rejects all calls, also later ones. */
  close(): Promise<void>
}

/** A failure that the thread reported for a request. */
export class WorkerFailure extends Error {
  override name = 'WorkerFailure'
  /** The kind of failure, as named by the worker's module. */
  readonly kind: string
  constructor(kind: string, message: string) {
    super(message)
    this.kind = kind
  }
}

export interface WorkerMessage<Request> {
  readonly id: number
  readonly request: Request
}

export type WorkerAnswer<Response> =
  | { readonly id: number; readonly response: Response }
  | { readonly id: number; readonly failure: { readonly kind: string; readonly message: string } }

/** A question of the thread during its work; see `WorkerThread`. */
export interface WorkerQuestion<Question> {
  readonly questionId: number
  readonly question: Question
}

/** The answer to a question. */
export type WorkerReply =
  | { readonly questionId: number; readonly reply: unknown }
  | { readonly questionId: number; readonly error: ErrorData }

interface Pending<Response> {
  resolve(response: Response): void
  reject(reason: unknown): void
}

export function createWorkerCalls<Request, Response, Question = never>(
  options: WorkerCallsOptions<Question>,
): WorkerCalls<Request, Response> {
  const { clock = systemClock } = options
  const pending = new Map<number, Pending<Response>>()
  let worker: Worker | null = null
  let closing: Promise<void> | null = null
  let lastId = 0

  /** A thread without work does not keep the process alive. */
  const settle = (id: number): Pending<Response> | undefined => {
    const call = pending.get(id)
    pending.delete(id)
    if (pending.size === 0) worker?.unref()
    return call
  }

  const failAll = (reason: RetryableError) => {
    for (const id of [...pending.keys()]) settle(id)?.reject(reason)
  }

  /** Posting to a thread that has ended is harmless. */
  const reply = async (asker: Worker, { questionId, question }: WorkerQuestion<Question>): Promise<void> => {
    try {
      if (options.answer === undefined)
        throw new TypeError(`${options.subject} asked a question, but there is no function to answer it`)
      asker.postMessage({ questionId, reply: await options.answer(question) } satisfies WorkerReply)
    } catch (error) {
      asker.postMessage({ questionId, error: errorData(error) } satisfies WorkerReply)
    }
  }

  const start = (): Worker => {
    const { youngHeapMegabytesMax } = options
    const started = new Worker(options.url, {
      workerData: options.workerData(),
      name: options.subject,
      ...(youngHeapMegabytesMax !== undefined && {
        resourceLimits: { maxYoungGenerationSizeMb: youngHeapMegabytesMax },
      }),
    })
    let crash: unknown
    started.on('message', (answer: WorkerAnswer<Response> | WorkerQuestion<Question>) => {
      if ('questionId' in answer) return void reply(started, answer)
      const call = settle(answer.id)
      if ('response' in answer) call?.resolve(answer.response)
      else call?.reject(new WorkerFailure(answer.failure.kind, answer.failure.message))
    })
    started.on('error', (error) => {
      crash = error
    })
    started.on('exit', (code) => {
      if (worker !== started) return
      worker = null
      if (closing === null) failAll(died(options.subject, code, crash))
    })
    return started
  }

  /** A hanging thread never answers its waiting calls: the next call starts another thread. */
  const giveUp = (target: Worker) => {
    if (worker !== target) return
    worker = null
    failAll(timedOut(options.subject, options.callTimeoutMs))
    void target.terminate()
  }

  const end = async (): Promise<void> => {
    failAll(closed(options.subject))
    const ending = worker
    if (ending === null) return
    const exited = new Promise<void>((resolve) => ending.once('exit', () => resolve()))
    ending.ref()
    ending.postMessage(null)
    await within(exited, { timeoutMs: options.closeTimeoutMs, late: () => void ending.terminate() })
    await exited
  }

  return {
    get pendingCount() {
      return pending.size
    },
    call(request, signal) {
      return new Promise<Response>((resolve, reject) => {
        signal?.throwIfAborted()
        if (closing !== null) throw closed(options.subject)
        const target = worker ?? start()
        worker = target
        const id = ++lastId
        const onAbort = () => settle(id)?.reject(signal?.reason)
        const stopTimer = clock.after(options.callTimeoutMs, () => giveUp(target))
        const stopListening = () => {
          stopTimer()
          signal?.removeEventListener('abort', onAbort)
        }
        pending.set(id, {
          resolve: (response) => {
            stopListening()
            resolve(response)
          },
          reject: (reason) => {
            stopListening()
            reject(reason)
          },
        })
        signal?.addEventListener('abort', onAbort, { once: true })
        target.ref()
        target.postMessage({ id, request } satisfies WorkerMessage<Request>)
      })
    },
    close() {
      closing ??= end()
      return closing
    },
  }
}

function died(subject: string, code: number, cause: unknown): RetryableError {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  return new RetryableError('SERVICE_UNAVAILABLE', `${subject} died with exit code ${code}${reason}`, {
    hint: 'the next call starts it again',
    ...(cause !== undefined && { cause }),
  })
}

function timedOut(subject: string, afterMs: number): RetryableError {
  return new RetryableError('TIMEOUT', `${subject} did not answer within ${afterMs} ms and was stopped`, {
    hint: 'the next call starts it again',
  })
}

function closed(subject: string): RetryableError {
  return new RetryableError('SERVICE_UNAVAILABLE', `${subject} is closed`)
}
