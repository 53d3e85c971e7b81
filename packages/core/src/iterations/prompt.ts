import type { Settings } from '@heddle/contracts'
import { adaptiveWindows } from './adaptive-window.js'
import { loopTokens } from './allocation.js'
import { prefixWithin } from './cut.js'
import { cutSummary } from './empty-note.js'
import type { Iteration } from './iteration.js'
import type { LoopContext } from './loop.js'
import { block, fitBlocks, floorOf, headsOf, JOIN_TOKENS, leastOf, part } from './prompt-parts.js'
import { type DividedLoop, divideLoop } from './window.js'

export const loopSectionNames = [
  'goal',
  'progress-summary',
  'recent-iterations',
  'current-state',
  'instructions',
] as const
export type LoopSectionName = (typeof loopSectionNames)[number]

/** The instructions, verbatim (docs/iterations.md#from-a-file-to-a-prompt). */
const INSTRUCTIONS = [
  '# Instructions',
  'Continue working toward the goal. Output:',
  '- `<progress>what you accomplished</progress>` for progress',
  '- `<promise>COMPLETE</promise>` when goal is fully achieved',
].join('\n')

const RECENT = '# Recent Iterations\n'
const FITTING_ROUNDS_MAX = 8

export interface LoopSection {
  readonly name: LoopSectionName
  readonly text: string
  readonly tokens: number
  /** Whether its text was cut to its cap or for the budget. */
  readonly isCut: boolean
}

/** An iteration that a prompt shows. */
export interface ShownIteration {
  readonly iteration: Iteration
  readonly tokens: number
  readonly isCut: boolean
}

export interface LoopPrompt {
  /** The complete prompt. */
  readonly text: string
  /** Its tokens by `measure`. */
  readonly tokens: number
  readonly sections: readonly LoopSection[]
  readonly shown: readonly ShownIteration[]
  /** Iterations that were to be shown but did not fit, oldest first. */
  readonly crowdedOut: readonly Iteration[]
  readonly divided: DividedLoop
  /** Whether its window is wider than the settings say, or shows all of it. */
  readonly isAdapted: boolean
}

export interface LoopPromptOptions {
  readonly settings: Pick<Settings, 'iterations' | 'maxSummaryTokens'>
  /** Maximum tokens of the prompt by `measure`. */
  readonly roomTokens: number
  /** Tokens of a text. */
  readonly count: (text: string) => number
  /** Tokens of the prompt as it is sent. Default `count`. */
  readonly measure?: (text: string) => number
  /** Wraps a summary that must be marked as data. Default: unchanged. */
  readonly guard?: (summary: string) => string
}

/**
 * The prompt of a loop (docs/iterations.md): goal, summary of older iterations, the newest ones, the state, and the
 * answer format; each part within its cap and all within the budget. If that is too small, the iterations are cut
 * first, then the summary, then the goal.
 */
export function layOutLoop(loop: LoopContext, options: LoopPromptOptions): LoopPrompt | { neededTokens: number } {
  const { roomTokens, count, measure = count } = options
  const adapted = layOutAdapted(loop, options)
  if (adapted !== null) return adapted
  const divided = divideLoop(loop, options.settings)
  let reduced = roomTokens
  let needed = 0
  for (let round = 0; round < FITTING_ROUNDS_MAX && reduced > 0; round++) {
    const written = write(loop, divided, reduced, options)
    if ('neededTokens' in written) return { neededTokens: written.neededTokens + (roomTokens - reduced) }
    const tokens = measure(written.text)
    if (tokens <= roomTokens) return { ...written, tokens, divided, isAdapted: false }
    needed = tokens
    reduced -= tokens - roomTokens + 8
  }
  return { neededTokens: Math.max(needed, roomTokens + 1) }
}

/** The prompt with the widest window that fits whole; null if the settings fix the window, or no such window fits. */
function layOutAdapted(loop: LoopContext, options: LoopPromptOptions): LoopPrompt | null {
  const { settings, roomTokens, count, measure = count } = options
  if (settings.iterations.window === 'fixed') return null
  for (const divided of adaptiveWindows(loop, options)) {
    const written = write(loop, divided, Number.MAX_SAFE_INTEGER, options)
    if ('neededTokens' in written) continue
    const tokens = measure(written.text)
    if (tokens <= roomTokens) return { ...written, tokens, divided, isAdapted: true }
  }
  return null
}

function write(
  loop: LoopContext,
  divided: DividedLoop,
  roomTokens: number,
  { settings, count, guard = (summary) => summary }: LoopPromptOptions,
): Omit<LoopPrompt, 'tokens' | 'divided' | 'isAdapted'> | { neededTokens: number } {
  const { summary, shown } = divided
  const state = `# Current State\n- Total iterations: ${loop.totalIterations}\n- Current CLI: ${loop.currentCli ?? 'unknown'}`
  const goal = part('# Goal\n', loop.goal ?? '', loopTokens.goalMax, count)
  const summaryHead =
    summary === null ? '' : `# Progress Summary (iterations ${summary.coveredFrom}-${summary.coveredTo})\n`
  const recap = part(
    guarded(summaryHead, guard),
    cutSummary(summary?.summary ?? '', settings.maxSummaryTokens, count),
    settings.maxSummaryTokens,
    count,
  )
  const blocks = shown.map((iteration) => block(iteration, settings.iterations.shownCharacters, count))
  const newest = blocks.at(-1)

  const fixed = count(state) + count(INSTRUCTIONS) + 2 * JOIN_TOKENS
  const iterationsHead = newest === undefined ? 0 : count(RECENT) + JOIN_TOKENS
  const floors = leastOf(goal) + leastOf(recap) + iterationsHead + (newest === undefined ? 0 : leastOf(newest))
  let spare = roomTokens - fixed - floors
  if (spare < 0) return { neededTokens: fixed + floors }

  const forGoal = Math.min(goal.tokens - floorOf(goal), spare)
  spare -= forGoal
  const wanted = blocks.reduce((sum, each) => sum + each.headTokens + each.tokens, 0)
  const forSummary = Math.min(recap.tokens - floorOf(recap), Math.max(spare - wanted, Math.ceil(spare / 2)))
  spare -= forSummary
  const forIterations = spare + (newest === undefined ? 0 : leastOf(newest))
  const fitted = fitBlocks(blocks, Math.min(forIterations, loopTokens.iterationsMax + headsOf(blocks)), count)

  const goalText = prefixWithin(goal.text, floorOf(goal) + forGoal, count)
  const summaryText = cutSummary(recap.text, floorOf(recap) + forSummary, count)
  const sections = [
    section('goal', loop.goal === null ? '' : `# Goal\n${goalText}`, goalText !== loop.goal),
    section(
      'progress-summary',
      summary === null ? '' : `${summaryHead}${guard(summaryText)}`,
      summaryText !== summary?.summary,
    ),
    section(
      'recent-iterations',
      fitted.length === 0 ? '' : `${RECENT}${fitted.map(({ text }) => text).join('\n\n')}`,
      fitted.some(({ isCut }) => isCut) || fitted.length < shown.length,
    ),
    section('current-state', state, false),
    section('instructions', INSTRUCTIONS, false),
  ].filter(({ text }) => text !== '')
  return {
    text: sections.map(({ text }) => text).join('\n\n'),
    sections,
    shown: fitted.map(({ iteration, text, isCut }) => ({ iteration, isCut, tokens: count(text) })),
    crowdedOut: shown.slice(0, shown.length - fitted.length),
  }

  function section(name: LoopSectionName, text: string, isCut: boolean): LoopSection {
    return { name, text, tokens: count(text), isCut }
  }
}

/** The text around a summary, for counting. */
function guarded(head: string, guard: (summary: string) => string): string {
  return head === '' ? '' : `${head}${guard('')}`
}
