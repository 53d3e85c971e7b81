import { gatedKinds, type LossGate, RetryableError } from '@heddle/contracts'
import {
  type Atom,
  AtomCollector,
  type AtomSet,
  EXTRACTIVE,
  gateSummary,
  isPinnedLoss,
  repairTokens,
  type SummarySource,
  summarizeExtractivelyInSteps,
} from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import { type Logger, runCooperatively } from '@heddle/runtime'
import { ask } from './ask.js'
import type { Whole } from './in-parts.js'

export interface GateDeps {
  readonly gate: LossGate
  /** Whether the range is summarized in parts: its messages are read again only if something follows from their details. */
  readonly isInParts: boolean
  /** The covered messages, of a long range the newest. */
  readonly sources: () => Promise<readonly SummarySource[]>
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Requests a summary and adds the details that it lost, as the settings say for each kind (docs/summaries.md#the-gate). Where a
 * pinned fact or a detail that blocks is still lost, the summarizer is asked once more, for a shorter text with more left for the
 * details, then the summary is made without a model.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE` if even that loses one; and as {@link ask}
 */
export async function askThroughGate(
  summarizer: Summarizer,
  whole: Whole,
  { gate, isInParts, sources, log }: GateDeps,
  signal: AbortSignal,
): Promise<string> {
  const { tokensMax } = whole.request
  const kinds = gatedKinds(gate, ['warn', 'repair', 'block'])
  const repair = gatedKinds(gate, ['repair', 'block'])
  const blocked = gatedKinds(gate, ['block'])
  const isLookedAt = repair.size > 0 || (kinds.size > 0 && !isInParts)
  const covered = isLookedAt ? await sources() : []
  const atoms = await atomsOf(covered)
  const last = covered.at(-1)?.reference ?? ''
  const half = Math.floor(tokensMax / 2)
  const steps: readonly (readonly [Summarizer, number])[] = [
    [summarizer, tokensMax - (repair.size > 0 ? repairTokens(tokensMax) : 0)],
    [summarizer, half],
    [withoutModel, half],
  ]
  let refused: unknown
  for (const [by, requestedTokens] of steps) {
    try {
      const summary = await ask(by, whole, signal, requestedTokens)
      const gated = await runCooperatively(gateSummary({ summary, tokensMax, atoms, repair, last }))
      const lost = gated.fates.lost.filter(({ kind }) => kinds.has(kind))
      if (!lost.some(({ kind }) => blocked.has(kind))) {
        if (lost.length > 0) log.warn({ lost: countsOf(lost), summarizer: by.name }, 'a summary lost details')
        return gated.summary
      }
      refused = refusal(lost.length)
    } catch (error) {
      if (!isPinnedLoss(error)) throw error
      refused = error
    }
  }
  throw refused
}

function refusal(lost: number): RetryableError {
  const message = `the summary was refused: it lost ${lost} details`
  return new RetryableError('SERVICE_UNAVAILABLE', message, { field: 'summary' })
}

/** By kind, without the texts, which do not belong into a log. */
function countsOf(lost: readonly Atom[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of lost) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

const withoutModel: Summarizer = {
  name: EXTRACTIVE,
  summarize: (request, signal) => runCooperatively(summarizeExtractivelyInSteps(request), { signal }),
}

async function atomsOf(sources: readonly SummarySource[]): Promise<AtomSet> {
  const collector = new AtomCollector()
  await runCooperatively(collector.add(sources))
  return collector.result()
}
