import type { MessagePort } from 'node:worker_threads'
import { errorFromData } from '@heddle/contracts'
import type { WorkerAnswer, WorkerMessage, WorkerQuestion, WorkerReply } from './worker-calls.js'

export interface ServedCalls<Request, Response> {
  /** Answers one call; several may run at once. An error fails only its own call. */
  readonly handle: (request: Request) => Promise<Response>
  /** Closes the thread's resources, once no call is running. */
  readonly close: () => Promise<void>
}

/** The thread's side of `createWorkerCalls`: serves calls until it is asked to end. */
export class WorkerThread<Question> {
  readonly #port: MessagePort
  readonly #asked = new Map<number, { resolve(reply: unknown): void; reject(error: unknown): void }>()
  #lastQuestionId = 0

  constructor(port: MessagePort) {
    this.#port = port
  }

  /**
   * Asks the calling thread.
   *
   * @throws HeddleError the error of the answer
   */
  ask(question: Question): Promise<unknown> {
    const questionId = ++this.#lastQuestionId
    return new Promise((resolve, reject) => {
      this.#asked.set(questionId, { resolve, reject })
      this.#port.postMessage({ questionId, question } satisfies WorkerQuestion<Question>)
    })
  }

  serve<Request, Response>({ handle, close }: ServedCalls<Request, Response>): void {
    const working = new Set<Promise<void>>()
    const end = async () => {
      await Promise.all(working)
      await close()
      this.#port.close()
    }
    const answer = async ({ id, request }: WorkerMessage<Request>) => {
      try {
        this.#send<Response>({ id, response: await handle(request) })
      } catch (error) {
        const { name, message } = error instanceof Error ? error : new Error(String(error))
        this.#send<Response>({ id, failure: { kind: name, message } })
      }
    }
    this.#port.on('message', (message: WorkerMessage<Request> | WorkerReply | null) => {
      if (message === null) return void end()
      if ('questionId' in message) return this.#settle(message)
      const work = answer(message).finally(() => working.delete(work))
      working.add(work)
    })
  }

  #send<Response>(answer: WorkerAnswer<Response>): void {
    this.#port.postMessage(answer)
  }

  #settle(reply: WorkerReply): void {
    const asked = this.#asked.get(reply.questionId)
    this.#asked.delete(reply.questionId)
    if ('error' in reply) asked?.reject(errorFromData(reply.error))
    else asked?.resolve(reply.reply)
  }
}
