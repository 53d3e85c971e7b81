import { countedFrom } from '@heddle/client/calls'
import { ineligibleReason } from '@heddle/core'
import type { Destination, Overview, Sent } from './destination.js'
import { isLong, type Part, partsIn } from './parts.js'
import type { PlannedFile, ThreadPlan } from './plan.js'

export interface SendFileOptions {
  readonly agent: string
  readonly newAgentRollingWindow: number | null
  readonly signal: AbortSignal
  /** Waits until one more part may be sent; returns the function that releases its slot. */
  readonly slot: () => Promise<() => void>
  /** Called with the number of messages of the file stored so far. */
  readonly onProgress: (stored: number) => void
}

/** Result of sending one thread; an error concerns that thread alone. */
export interface SentThread extends Sent {
  readonly planned: ThreadPlan
  readonly keptAside: number
  readonly overview: Overview | null
  readonly error: unknown
}

/** Sends the threads of a file while reading it: per thread, one part is in flight and one is being read. */
export async function sendFile(
  destination: Destination,
  file: PlannedFile,
  options: SendFileOptions,
): Promise<SentThread[]> {
  const senders = new Map(file.threads.map((thread) => [thread, new ThreadSender(destination, thread, options)]))
  const eachPart = async (take: (sender: ThreadSender, part: Part) => Promise<void>) => {
    for (const part of partsIn(file)) {
      options.signal.throwIfAborted()
      const sender = senders.get(part.thread)
      if (sender !== undefined) await take(sender, part)
    }
  }
  try {
    // A thread of several parts is compared first: if one of its messages conflicts, no part is sent.
    if (isLong(file) && (await anyExists(destination, file.threads))) {
      await eachPart((sender, part) => sender.compare(part))
    }
    await eachPart((sender, part) => sender.send(part, () => reportProgress()))
  } finally {
    file.close()
    await Promise.all([...senders.values()].map((sender) => sender.ended()))
  }
  return [...senders.values()].map((sender) => sender.result())

  function reportProgress(): void {
    options.onProgress([...senders.values()].reduce((sum, { done }) => sum + done, 0))
  }
}

async function anyExists(destination: Destination, threads: readonly ThreadPlan[]): Promise<boolean> {
  for (const { thread } of threads) if (await destination.holds(thread)) return true
  return false
}

class ThreadSender {
  readonly #destination: Destination
  readonly #planned: ThreadPlan
  readonly #options: SendFileOptions
  readonly #total = { stored: 0, repeated: 0, grown: 0, keptAside: 0 }
  /** Messages whose result is known. */
  done = 0
  #compared = 0
  #error: unknown
  #overview: Overview | null = null
  #isFirst = true
  #last: Promise<void> = Promise.resolve()

  constructor(destination: Destination, planned: ThreadPlan, options: SendFileOptions) {
    this.#destination = destination
    this.#planned = planned
    this.#options = options
  }

  async compare({ thread, messages }: Part): Promise<void> {
    if (this.#error !== undefined) return
    try {
      await this.#destination.compare(thread.thread, messages)
      this.#compared += messages.length
    } catch (error) {
      this.#error = countedFrom(error, this.#compared)
    }
  }

  /** Resolves once the part is in flight. */
  async send(part: Part, tell: () => void): Promise<void> {
    await this.#last
    if (this.#error !== undefined) return
    const leave = await this.#options.slot()
    this.#last = this.#append(part, tell)
      .catch((error: unknown) => {
        this.#error = countedFrom(error, this.done)
      })
      .finally(leave)
  }

  async #append({ thread, messages }: Part, tell: () => void): Promise<void> {
    const { agent, newAgentRollingWindow } = this.#options
    const before = this.done
    const continues = !this.#isFirst
    this.#isFirst = false
    const { stored, repeated, grown } = await this.#destination.append(thread.thread, messages, {
      agent,
      newAgentRollingWindow,
      continues,
      onProgress: (acknowledged) => {
        this.done = before + acknowledged
        tell()
      },
    })
    this.#total.stored += stored
    this.#total.repeated += repeated
    this.#total.grown += grown
    this.#total.keptAside += messages.filter(
      ({ role, keptAside = null }) => ineligibleReason({ role, keptAside }) !== null,
    ).length
    this.done = before + messages.length
    tell()
    if (this.done >= this.#planned.messages) this.#overview = await this.#destination.overview(thread.thread)
  }

  async ended(): Promise<void> {
    await this.#last
  }

  result(): SentThread {
    return { planned: this.#planned, ...this.#total, overview: this.#overview, error: this.#error }
  }
}
