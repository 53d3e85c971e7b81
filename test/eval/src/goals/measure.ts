import {
  type Message,
  messageReference,
  pairToolCalls,
  speakerText,
  summarizeExtractively,
  summarySources,
} from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { areTold, countInjected, firstLineOf, linesOf, saysWhat } from './judge.js'
import { type Cut, cuts, injected } from './labels.js'
import { labelledThreads } from './threads.js'

const TOKENS_MAX = 1_500
/** Of the conversations without injected messages, those that were read for the labels. */
const READ_MESSAGES_MAX = 100

/** Compares the goal, the requests and the injected lines in summaries without a model with a person's labels. */
export async function measureGoals(dataDir: string): Promise<Measured[]> {
  const threads = await labelledThreads(dataDir)
  const judged = cuts.map((cut) => judge(cut, threads.get(cut.thread) ?? []))
  const right = judged.filter(({ isRight }) => isRight).length
  const wrong = judged.flatMap(({ isRight, cut }) => (isRight ? [] : [`${cut.thread} ${cut.from}-${cut.to}`]))
  const wanted = judged.reduce((sum, { cut }) => sum + (cut.requests?.length ?? 0), 0)
  const told = judged.reduce((sum, each) => sum + each.told, 0)
  const firsts = judged.filter(({ isFirstRight }) => isFirstRight).length
  const lines = injectedLines(threads)
  const share = (name: string, part: number, whole: number, target: string, note: string): Measured => ({
    ...{ name: `summary.${name}`, value: whole === 0 ? 0 : part / whole, unit: 'share', target },
    note: `${part} of ${whole}; ${note}`,
  })
  return [
    share(
      'goal',
      right,
      judged.length,
      '>= 0.85',
      `the first request would be right in ${firsts}; wrong: ${wrong.join(', ')}`,
    ),
    share('requests', told, wanted, '>= 0.85', 'other requests that a person would want told'),
    share('injected.precision', lines.right, lines.taken, '>= 0.95', 'lines taken for nobody’s'),
    share('injected.recall', lines.right, lines.injected, '>= 0.95', 'lines that nobody wrote'),
  ]
}

function judge(cut: Cut, messages: readonly Message[]) {
  const covered = messages.slice(cut.from, cut.to)
  const sources = summarySources(covered, pairToolCalls(covered), ({ code }) => messageReference(code))
  const request = { purpose: 'compaction', messages: sources, previousSummary: null, tokensMax: TOKENS_MAX } as const
  const summary = summarizeExtractively(request)
  const goal = firstLineOf(summary, 'Goal')
  const textOf = (at: number) => messages[at]?.content ?? ''
  const requests = [...linesOf(summary, 'Goal'), ...linesOf(summary, 'Requests and requirements')]
  const first = covered.find(({ role }) => role === 'user')?.content ?? ''
  return {
    cut,
    isRight: cut.goals.some((at) => saysWhat(goal, textOf(at))),
    isFirstRight: cut.goals.some((at) => textOf(at) === first),
    told: (cut.requests ?? []).filter((at) => areTold(requests, textOf(at))).length,
  }
}

function injectedLines(threads: ReadonlyMap<string, readonly Message[]>) {
  const sum = { taken: 0, right: 0, injected: 0 }
  for (const [thread, messages] of threads) {
    const isRecorded = injected.some((label) => label.thread === thread)
    const read = isRecorded ? messages : messages.slice(0, READ_MESSAGES_MAX)
    const sources = summarySources(read, pairToolCalls(read), () => '', { charactersMax: Number.MAX_SAFE_INTEGER })
    for (const [at, { role, text }] of speakerText(sources).entries()) {
      if (read[at]?.role !== 'user') continue
      const label = injected.find((each) => each.thread === thread && each.at === at)
      const counts = countInjected(read[at].content, role === 'user' ? text : '', label)
      sum.taken += counts.taken
      sum.right += counts.right
      sum.injected += counts.injected
    }
  }
  return sum
}
