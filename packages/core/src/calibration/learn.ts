import { type CountedRequest, type CountFit, fitCounts, medianOf } from './fit.js'
import { providerOf } from './provider.js'
import { reportedInput } from './reported.js'

/** A reply that names its context, with what its provider reported. */
export interface CountedReply {
  readonly model: string
  readonly usage: Readonly<Record<string, unknown>>
  /** Tokens of the context by our counter. */
  readonly counted: number
  readonly threadId: string
  /** Tokens by role of the messages since the previous reply of its thread; null if they are many, or it is the first. */
  readonly added: Readonly<Record<string, number>> | null
}

/** The counts of an agent's requests to a model, as they were learnt. */
export interface CalibratedModel {
  readonly model: string
  readonly provider: string
  readonly fit: CountFit
  /** Ratios of messages of one role, where enough requests grew by little else. */
  readonly kinds: Readonly<Record<string, { readonly ratio: number; readonly samples: number }>>
}

/** Roles of messages are few. */
export const RATIO_KINDS_MAX = 8
const KIND_SAMPLES_MIN = 8
/** Requests that grew by less are not compared. */
const ADDED_TOKENS_MIN = 200
/** The share of the growth that messages of one role have. */
const KIND_SHARE_MIN = 0.8
const KIND_RATIO_MIN = 0.25
const KIND_RATIO_MAX = 4

/** @param replies of one agent, in their order */
export function learnCalibrations(replies: readonly CountedReply[]): CalibratedModel[] {
  const models = [...new Set(replies.map(({ model }) => model))]
  return models.flatMap((model) => {
    const own = replies.filter((reply) => reply.model === model)
    const fit = fitCounts(own.map(requestOf))
    return fit === null ? [] : [{ model, provider: providerOf(model), fit, kinds: kindsOf(own) }]
  })
}

function requestOf({ counted, usage }: CountedReply): CountedRequest {
  return { counted, reported: reportedInput(usage) }
}

function kindsOf(replies: readonly CountedReply[]): CalibratedModel['kinds'] {
  const ratios = new Map<string, number[]>()
  const previous = new Map<string, CountedRequest>()
  for (const reply of replies) {
    const request = requestOf(reply)
    const before = previous.get(reply.threadId)
    previous.set(reply.threadId, request)
    const kind = before === undefined ? null : kindOf(reply, request.counted - before.counted)
    if (before === undefined || kind === null) continue
    const ratio = (request.reported - before.reported) / (request.counted - before.counted)
    if (ratio >= KIND_RATIO_MIN && ratio <= KIND_RATIO_MAX) ratios.set(kind, [...(ratios.get(kind) ?? []), ratio])
  }
  return Object.fromEntries(
    [...ratios]
      .filter(([, own]) => own.length >= KIND_SAMPLES_MIN)
      .slice(0, RATIO_KINDS_MAX)
      .map(([kind, own]) => [kind, { ratio: medianOf(own), samples: own.length }]),
  )
}

/** The role of most of what was added; null if it is mixed, or if something else than the added messages changed the size. */
function kindOf({ added }: CountedReply, grownBy: number): string | null {
  if (added === null || grownBy < ADDED_TOKENS_MIN) return null
  const total = Object.values(added).reduce((sum, tokens) => sum + tokens, 0)
  // The messages since are most of the growth: no compaction came between, and no other section changed.
  if (total < grownBy / 2 || total > grownBy * 2) return null
  return Object.entries(added).find(([, tokens]) => tokens >= total * KIND_SHARE_MIN)?.[0] ?? null
}
