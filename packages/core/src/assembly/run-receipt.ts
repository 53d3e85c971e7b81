import type { ReceiptEntry } from '@heddle/contracts'
import type { Iteration } from '../iterations/iteration.js'
import type { LoopContext } from '../iterations/loop.js'
import type { LoopPrompt, LoopSection } from '../iterations/prompt.js'
import type { BuildInput } from './input.js'

/** Receipt lines for a loop; each iteration is in exactly one of them. */
export function loopEntries(
  loop: LoopContext,
  prompt: LoopPrompt,
  { settings, reference }: Pick<BuildInput, 'settings' | 'reference'>,
): ReceiptEntry[] {
  const { divided, crowdedOut, sections } = prompt
  const { rawWindowSize, shownIterations } = settings.iterations
  const entries = [
    ...sections.flatMap((section) => sectionEntries(section, prompt, { settings, reference })),
    ...leftOut(crowdedOut, 'in the window, but it did not fit'),
    ...leftOut(
      divided.deferred,
      `in the window of the newest ${rawWindowSize}, of which a prompt shows the last ${shownIterations}`,
    ),
    ...unread(divided.unread, loop),
  ]
  return withWholeTokens(entries, prompt.tokens)
}

function sectionEntries(
  section: LoopSection,
  { divided, shown, isAdapted }: LoopPrompt,
  { settings, reference }: Pick<BuildInput, 'settings' | 'reference'>,
): ReceiptEntry[] {
  const { name, tokens, isCut } = section
  const line = (reason: string): ReceiptEntry => ({
    section: name,
    mode: isCut ? 'elided' : 'raw',
    count: 0,
    role: 'user',
    tokens,
    reason,
  })
  switch (name) {
    case 'goal':
      return [line('the goal of the thread')]
    case 'current-state':
      return [line('the number of iterations, and the CLI that runs')]
    case 'instructions':
      return [line('the answer format of the next iteration')]
    case 'progress-summary': {
      const { summary } = divided
      if (summary === null) return []
      const { coveredCount: iterations, coveredFrom: fromIteration, coveredTo: toIteration } = summary
      const covered = { mode: 'covered' as const, count: 0, iterations, fromIteration, toIteration, tokens: 0 }
      return [line('the summary of older iterations'), { section: name, ...covered, reason: 'summarized' }]
    }
    case 'recent-iterations': {
      const recent = isAdapted ? `recent; the window adapts to the budget and shows ${shown.length} whole` : 'recent'
      const heading = tokens - shown.reduce((sum, one) => sum + one.tokens, 0)
      return shown.map(({ iteration, tokens: own, isCut: isShort }, index) => ({
        section: name,
        mode: isShort ? 'elided' : 'raw',
        count: 0,
        iterations: 1,
        fromIteration: iteration.number,
        toIteration: iteration.number,
        ...(iteration.code !== null && {
          messageId: iteration.id,
          reference: reference({ code: iteration.code }),
        }),
        role: 'user',
        tokens: own + (index === 0 ? Math.max(0, heading) : 0),
        reason: isShort ? `${recent}; cut to ${settings.iterations.shownCharacters} characters or less to fit` : recent,
      }))
    }
  }
}

function leftOut(iterations: readonly Iteration[], reason: string): ReceiptEntry[] {
  const [first, last] = [iterations[0], iterations.at(-1)]
  if (first === undefined || last === undefined) return []
  return [absent({ iterations: iterations.length, fromIteration: first.number, toIteration: last.number, reason })]
}

function unread(iterations: number, { iterations: read }: LoopContext): ReceiptEntry[] {
  if (iterations === 0) return []
  return [absent({ iterations, reason: `older than the newest ${read.length}, and no summary covers them yet` })]
}

function absent(fields: Pick<ReceiptEntry, 'iterations' | 'fromIteration' | 'toIteration' | 'reason'>): ReceiptEntry {
  return { section: 'recent-iterations', mode: 'left-out', count: 0, tokens: 0, ...fields }
}

/** Adds the tokens of section separators to the last line, so that the lines add up to the prompt's total. */
function withWholeTokens(entries: readonly ReceiptEntry[], tokens: number): ReceiptEntry[] {
  const sum = entries.reduce((total, entry) => total + entry.tokens, 0)
  const last = entries.findLastIndex(({ section }) => section === 'instructions')
  return entries.map((entry, index) =>
    index === last ? { ...entry, tokens: Math.max(0, entry.tokens + tokens - sum) } : entry,
  )
}
