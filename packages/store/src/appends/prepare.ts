import { holdsLongText, type IngestJob, type PlacedMessage, partBytes, placedCharacters } from '@heddle/contracts'
import {
  estimateMessageTokens,
  type Pausable,
  partToStore,
  placedFingerprint,
  placedFingerprintSteps,
} from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import type { Append, PreparedMessage } from '../messages/append-plan.js'
import { type ContentElement, contentElementSteps } from '../sql/content-element.js'

/** An append with its size, by which groups are limited. */
export interface PreparedAppend extends Append {
  readonly characters: number
}

/**
 * Prepares the appends of jobs. Long messages are prepared with pauses, so that other work of the process can run; later
 * appends of the same thread wait for them, so that the appends of a thread keep their order.
 */
export class Preparation {
  readonly #underWay = new Map<string, Promise<unknown>>()

  prepare(job: IngestJob): PreparedAppend | Promise<PreparedAppend> {
    const key = `${job.projectId} ${job.thread}`
    const before = this.#underWay.get(key)
    if (before === undefined && !holdsLongText(job.messages)) return prepareAppend(job)
    const preparing = Promise.resolve(before).then(() => runCooperatively(prepareSteps(job)))
    const ended = preparing.then(
      () => undefined,
      () => undefined,
    )
    this.#underWay.set(key, ended)
    void ended.then(() => {
      if (this.#underWay.get(key) === ended) this.#underWay.delete(key)
    })
    return preparing
  }
}

/** Converts a job's messages for storage: with positions, hashes and estimated tokens. */
export function prepareAppend(job: IngestJob): PreparedAppend {
  return preparedOf(
    job,
    job.messages.map((placed) => prepared(placed, placedFingerprint(placed))),
  )
}

function* prepareSteps(job: IngestJob): Pausable<PreparedAppend> {
  const messages: PreparedMessage[] = []
  for (const placed of job.messages) {
    const contentElement = yield* contentElementSteps(placed.message.content)
    messages.push(prepared(placed, yield* placedFingerprintSteps(placed), contentElement ?? undefined))
  }
  return preparedOf(job, messages)
}

function preparedOf(job: IngestJob, messages: readonly PreparedMessage[]): PreparedAppend {
  return {
    requestId: job.requestId,
    characters: job.messages.reduce((sum, placed) => sum + charactersOf(placed), 0),
    agent: job.agent,
    thread: job.thread,
    newAgentRollingWindow: job.newAgentRollingWindow,
    onUsedId: job.onUsedId,
    messages,
  }
}

function prepared(placed: PlacedMessage, fingerprint: string, contentElement?: ContentElement): PreparedMessage {
  const { message, iteration, ordinal, orderedAt } = placed
  const { parts: given, content, toolCalls = [], thinking = [] } = message
  const parts = given?.map(partToStore)
  const counted = { content, toolCalls, thinking, parts: parts?.map(({ part }) => part) }
  return {
    input: given === undefined ? message : withoutParts(message),
    parts,
    contentElement,
    iteration,
    ordinal,
    orderedAtMs: Date.parse(orderedAt),
    tokensEstimate: estimateMessageTokens(counted).tokens,
    fingerprint,
  }
}

function withoutParts({ parts: _, ...input }: PlacedMessage['message']): PreparedMessage['input'] {
  return input
}

/** Size of a message in a transaction. */
function charactersOf(placed: PlacedMessage): number {
  return placedCharacters(placed) + (placed.message.parts ?? []).reduce((sum, part) => sum + partBytes(part), 0)
}
