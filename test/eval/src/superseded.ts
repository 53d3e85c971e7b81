import { readFileSync } from 'node:fs'
import type { PlannedThread } from '@heddle/cli'
import { defaultSettings } from '@heddle/contracts'
import { decidePrunings, pairToolCalls } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { toMessage } from './messages.js'
import { type RawView, rawViews } from './raw-views.js'
import { readSessions } from './sessions.js'

export interface Judged {
  /** Views that the pruner calls superseded. */
  readonly called: number
  /** Those of them for which the raw session has an edit or a view that makes them needless. */
  readonly right: number
  /** Views by a tool whose file was changed later, older than the kept tail. */
  readonly wanted: number
  readonly found: number
  /** Wrong and missed views, for manual inspection. */
  readonly faults: readonly string[]
}

/** Compares the views that the pruner marks as superseded with those that are; each session is one batch with default settings. */
export async function measureSuperseded(dataDir: string): Promise<Measured[]> {
  const judged = (await readSessions(dataDir)).map(judgeSession)
  const sum = (part: 'called' | 'right' | 'wanted' | 'found') => judged.reduce((total, each) => total + each[part], 0)
  for (const fault of judged.flatMap(({ faults }) => faults)) process.stderr.write(`${fault}\n`)
  const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole)
  return [
    {
      name: 'prune.superseded.precision',
      value: share(sum('right'), sum('called')),
      unit: 'share',
      target: '>= 1',
      note: `${sum('right')} of ${sum('called')} views that the pruner calls superseded`,
    },
    {
      name: 'prune.superseded.recall',
      value: share(sum('found'), sum('wanted')),
      unit: 'share',
      target: '>= 0.95',
      note: `${sum('found')} of ${sum('wanted')} views that were followed by an edit of their file`,
    },
  ]
}

export function judgeSession({ file, thread, messages: given }: PlannedThread): Judged {
  const views = new Map(rawViews(readFileSync(file, 'utf8')).map((view) => [keyOf(view.callId, view.occurrence), view]))
  const messages = given.map(toMessage)
  const decisions = decidePrunings({
    messages,
    pairs: pairToolCalls(messages),
    settings: defaultSettings.prune,
    alreadyPruned: new Set(),
    reference: (message) => `msg-${message.code}`,
  })
  const reasons = new Map(decisions.map(({ messageId, reason }) => [messageId, reason]))
  const kept = messages.length - defaultSettings.prune.keepLastN
  const seen = new Map<string, number>()
  const faults: string[] = []
  const totals = { called: 0, right: 0, wanted: 0, found: 0 }
  for (const [index, { id, role, toolCallId }] of messages.entries()) {
    if (role !== 'tool_result' || toolCallId === null) continue
    const occurrence = seen.get(toolCallId) ?? 0
    seen.set(toolCallId, occurrence + 1)
    const view = views.get(keyOf(toolCallId, occurrence))
    const isCalled = /^superseded by a later (?:edit|view)$/.test(reasons.get(id) ?? '')
    const isRight = view !== undefined && (view.editedLater || view.writtenLater || view.viewedLater)
    const isWanted = view?.byTool === true && view.editedLater && index < kept
    totals.called += Number(isCalled)
    totals.right += Number(isCalled && isRight)
    totals.wanted += Number(isWanted)
    totals.found += Number(isWanted && isCalled)
    if (isCalled && !isRight) faults.push(`${thread}: wrongly superseded: ${describe(toolCallId, view)}`)
    if (isWanted && !isCalled) faults.push(`${thread}: not found: ${describe(toolCallId, view)} ${reasons.get(id)}`)
  }
  return { ...totals, faults }
}

function keyOf(callId: string, occurrence: number): string {
  return `${callId} ${occurrence}`
}

function describe(callId: string, view: RawView | undefined): string {
  return `${callId} ${view?.paths.join(' ') ?? 'no view'}`
}
