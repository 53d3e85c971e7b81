import { type CountedRequest, FIT_SAMPLES_MIN, fitCounts, modelMargin, predictCount } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { type CountText, requestParts, tokensIn } from '@heddle/test-support/providers/request-parts'
import { countedOnce } from '../proxy/calibration.js'
import { readClaudeSessions } from '../proxy/claude-sessions.js'
import type { ReplaySession } from '../proxy/session.js'

export const calibrationFigures = ['calibration']

/** A prediction of a request's tokens, from the requests before it. */
interface Predicted {
  readonly reported: number
  readonly uncalibrated: number
  readonly predicted: number
  /** The most that was to be expected. */
  readonly atMost: number
  /** Requests since the client began or compacted. */
  readonly turn: number
}

/**
 * Counts the conversation of each recorded request, and predicts what its provider reported for the whole of it from the requests
 * before. The recordings lack the client's system prompt and tools, and the files that it attaches after its own compactions: they
 * are the offset, which is another after each of these.
 */
export async function measureCalibration(dataDir: string): Promise<Measured[]> {
  const count = countedOnce()
  const sessions = await readClaudeSessions(dataDir, { isCompacted: true })
  const named = sessions.map(({ name, model, ...session }) => ({
    name: `${name}, ${model}`,
    predicted: predictAll({ name, model, ...session }, count),
  }))
  const all = named.flatMap(({ predicted }) => predicted)
  const settled = all.filter(({ turn }) => turn > FIT_SAMPLES_MIN)
  const compacted = all.filter(({ turn }) => turn <= FIT_SAMPLES_MIN)
  const note = `${settled.length} requests of ${sessions.length} sessions, after ${FIT_SAMPLES_MIN} turns`
  const bySession = named.map(({ name, predicted }) => `${name}: ${percent(offAt(predicted, 'predicted', 0.95))}`)
  return [
    figureOf(
      'calibration.before.p95',
      offAt(settled, 'uncalibrated', 0.95),
      `${note}: our count times the model's margin`,
    ),
    figureOf('calibration.p50', offAt(settled, 'predicted', 0.5), note),
    {
      ...figureOf('calibration.p95', offAt(settled, 'predicted', 0.95), `${note}; ${bySession.join('; ')}`),
      target: '<= 0.03',
    },
    { ...underOf('calibration.under', settled), target: '<= 0' },
    {
      ...figureOf(
        'calibration.all.p95',
        offAt(all, 'predicted', 0.95),
        `${all.length} requests after ${FIT_SAMPLES_MIN} turns of a session, those after compactions by the client included`,
      ),
      target: '<= 0.03',
    },
    figureOf(
      'calibration.compacted.p95',
      offAt(compacted, 'predicted', 0.95),
      `${compacted.length} requests within ${FIT_SAMPLES_MIN} turns of a compaction by the client`,
    ),
    underOf('calibration.compacted.under', compacted),
  ]
}

function figureOf(name: string, value: number, note: string): Measured {
  return { name, value, unit: 'share', note }
}

function underOf(name: string, all: readonly Predicted[]): Measured {
  const under = all.filter(({ reported, atMost }) => reported > atMost)
  const largest = Math.max(0, ...all.map(({ reported, predicted }) => reported / predicted - 1))
  return {
    name,
    value: under.length,
    unit: 'requests',
    note: `beyond the margin, of ${all.length}; the largest under-estimate was ${percent(largest)}`,
  }
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`

function predictAll(session: ReplaySession, count: CountText): Predicted[] {
  const known: CountedRequest[] = []
  const predictions: Predicted[] = []
  const margin = modelMargin(session.model)
  let turn = 0
  for (const { history, recorded, purpose } of session.requests) {
    turn = purpose === 'compaction' ? 0 : turn + 1
    if (recorded === null) continue
    const reported = recorded.input + recorded.cacheRead + recorded.cacheWrite
    const { messages } = JSON.parse(session.body(history)) as { messages: unknown }
    const counted = tokensIn(requestParts(session.protocol, { messages }, count))
    const fit = fitCounts(known)
    if (fit !== null && reported > 0) {
      const predicted = predictCount(fit, counted)
      const atMost = predicted * (1 + fit.margin)
      predictions.push({ reported, uncalibrated: counted * margin, predicted, atMost, turn })
    }
    known.push({ counted, reported })
  }
  return predictions
}

function offAt(all: readonly Predicted[], by: 'predicted' | 'uncalibrated', quantile: number): number {
  const off = all.map((one) => Math.abs(one[by] - one.reported) / one.reported).toSorted((one, other) => one - other)
  return off[Math.min(off.length - 1, Math.floor(off.length * quantile))] ?? 0
}
