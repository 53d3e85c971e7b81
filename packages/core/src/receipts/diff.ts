import type { ContextDiff, ContextResult, DiffLine, HiddenReason } from '@heddle/contracts'
import { canonicalJson } from '../conversation/fingerprint.js'
import { renderParts, sharedPrefixTokens } from '../delivery/shared-prefix.js'
import type { Pausable } from '../recall/steps.js'
import { countTokens, estimateTokens } from '../tokens/tokens.js'
import { longestRising } from './longest-rising.js'
import { type Placed, standingsOf } from './standings.js'

/**
 * Compares two contexts by their receipts and by what was delivered: entries that were added, removed, changed their
 * form or moved. Of two threads, only the fixed parts can be equal. Contexts of long threads list ten thousand
 * messages, so the comparison yields regularly.
 *
 * @param before the context that the other is compared with; it may be the later one
 */
export function* diffContexts(before: ContextResult, after: ContextResult): Pausable<ContextDiff> {
  const left = standingsOf(before)
  yield
  const right = standingsOf(after)
  const isSameSeries = before.thread === after.thread && before.receipt.clearEpoch === after.receipt.clearEpoch
  const elsewhere = (placed: Placed, { unnamed }: typeof left) =>
    placed.seq !== undefined && isSameSeries ? unnamed : null
  const cameIn: DiffLine[] = []
  const wentOut: DiffLine[] = []
  const changed: DiffLine[] = []
  const inBoth: { readonly key: string; readonly line: DiffLine }[] = []
  for (const [key, placed] of right.byKey) {
    yield
    if (!placed.isShown) continue
    const earlier = left.byKey.get(key)
    const line = lineOf(placed, earlier?.standing ?? elsewhere(placed, left), placed.standing)
    if (!earlier?.isShown) cameIn.push(line)
    else {
      inBoth.push({ key, line })
      if (canonicalJson(earlier.standing) !== canonicalJson(placed.standing)) changed.push(line)
    }
  }
  for (const [key, placed] of left.byKey) {
    yield
    const later = right.byKey.get(key)
    if (!placed.isShown || later?.isShown) continue
    wentOut.push(lineOf(placed, placed.standing, later?.standing ?? elsewhere(placed, right)))
  }
  const places = new Map([...left.byKey.keys()].map((key, index) => [key, index]))
  yield
  const stayed = longestRising(inBoth.map(({ key }) => places.get(key) ?? 0))
  yield
  const delivered = yield* compareDelivered(before, after)
  return {
    before: before.id,
    after: after.id,
    tokens: { before: before.tokensUsed, after: after.tokensUsed },
    sections: sectionsOfBoth(before, after),
    settings: settingsOfBoth(before, after),
    cameIn,
    wentOut,
    changed,
    moved: inBoth.filter((_, index) => !stayed.has(index)).map(({ line }) => line),
    delivered,
  }
}

function lineOf(
  { standing: _, isShown: __, ...named }: Placed,
  before: DiffLine['before'],
  after: DiffLine['after'],
): DiffLine {
  return { ...named, before, after }
}

function sectionsOfBoth(before: ContextResult, after: ContextResult): ContextDiff['sections'] {
  const tokensIn = ({ receipt }: ContextResult, name: string) =>
    receipt.sections.filter((section) => section.name === name).reduce((sum, { tokens }) => sum + tokens, 0)
  const names = new Set([...before.receipt.sections, ...after.receipt.sections].map(({ name }) => name))
  return [...names].map((name) => ({ name, before: tokensIn(before, name), after: tokensIn(after, name) }))
}

function settingsOfBoth(before: ContextResult, after: ContextResult): ContextDiff['settings'] {
  const facts = ({ thread, agent, format, strategy, budget, receipt }: ContextResult) => {
    const { model, counter, agentVersion, stateId, clearEpoch, headSeq, eligible, rendererVersion } = receipt
    const asked = { thread, agent, format, strategy, budget, model, counter }
    const hidden = (reason: HiddenReason) => receipt.ineligible[reason] ?? 0
    const counts = { eligible, outsideWindow: hidden('outside-window'), beforeClear: hidden('before-clear') }
    return { ...asked, agentVersion, stateId, clearEpoch, headSeq, ...counts, rendererVersion }
  }
  const [left, right] = [facts(before), facts(after)]
  return (Object.keys(left) as (keyof typeof left)[])
    .filter((name) => left[name] !== right[name])
    .map((name) => ({ name, before: left[name], after: right[name] }))
}

function* compareDelivered(before: ContextResult, after: ContextResult): Pausable<ContextDiff['delivered']> {
  const count = before.receipt.counter === 'o200k' ? countTokens : estimateTokens
  const left = yield* renderParts(before, count)
  const right = yield* renderParts(after, count)
  const unmatched = new Map<string, number>()
  for (const { text } of left) unmatched.set(text, (unmatched.get(text) ?? 0) + 1)
  const same = right.filter(({ text }) => {
    const there = unmatched.get(text) ?? 0
    unmatched.set(text, there - 1)
    return there > 0
  })
  return {
    before: left.length,
    after: right.length,
    same: same.length,
    sharedPrefixTokens: before.format === after.format ? sharedPrefixTokens(left, right) : 0,
  }
}
