import type { ThreadOverview } from '@heddle/client/interface'
import { formats } from '@heddle/contracts'
import { carriesReasoning } from '@heddle/core'
import { safeText } from '../../output/safe-text.js'
import { formatCount, itemTable, type Line } from '../../output/table.js'

/** `0`, or the count of each reason: `2 compact-summary`. */
function keptAsideText(keptAside: Readonly<Record<string, number>>): string {
  const parts = Object.entries(keptAside).map(([reason, count]) => `${formatCount(count)} ${reason}`)
  return parts.length === 0 ? '0' : parts.join(', ')
}

/** The cost of the thread's summaries, if a provider was called for them. */
function costLines(costs: ThreadOverview['summaryCosts']): string[] {
  if (costs.calls === 0) return []
  const failed = costs.failedCalls === 0 ? '' : ` (${formatCount(costs.failedCalls)} failed)`
  const unpriced =
    costs.callsWithoutPrice === 0 ? '' : `, ${formatCount(costs.callsWithoutPrice)} calls without a price`
  return [
    `summaries ${formatCount(costs.summaries)} · ${formatCount(costs.calls)} calls${failed} · ${formatCount(costs.inputTokens)} tokens in, ${formatCount(costs.outputTokens)} out · about $${costs.costUsd.toFixed(4)}${unpriced}`,
  ]
}

/** Tokens of the whole thread as sent to providers; formats without reasoning send fewer. */
function sizeLines({ sentTokens, reasoningTokens, uncounted }: ThreadOverview): string[] {
  const estimated = uncounted === 0 ? '' : ` · ${formatCount(uncounted)} messages are estimated so far`
  const sent = `${formatCount(sentTokens.anthropic)} tokens as sent`
  if (reasoningTokens === 0) return [`${sent}${estimated}`]
  const withReasoning = formats.filter(carriesReasoning).join(', ')
  const without = formats.filter((format) => !carriesReasoning(format)).join(', ')
  return [
    `${sent} with reasoning (${withReasoning}) · ${formatCount(sentTokens['openai-chat'])} without (${without})${estimated}`,
  ]
}

/** The overview of a thread for people. */
export function threadLines(thread: ThreadOverview): Line[] {
  const { prunings } = thread
  return [
    `thread ${safeText(thread.name)} · agent ${safeText(thread.agent)}`,
    ...(thread.forkedFrom === null
      ? []
      : [
          `forked from ${safeText(thread.forkedFrom.thread ?? 'an erased thread')} at ${formatCount(thread.forkedFrom.seq)}`,
        ]),
    ...thread.warnings.map((warning) => `warning: ${safeText(warning)}`),
    ...(thread.title === null ? [] : [`title: ${safeText(thread.title)}`]),
    ...(thread.status === null ? [] : [`status: ${safeText(thread.status)}`]),
    `${formatCount(thread.messages)} messages · ${formatCount(thread.toolCalls)} tool calls · ${formatCount(thread.toolResults)} results`,
    ...sizeLines(thread),
    `eligible ${formatCount(thread.eligible)} / imported ${formatCount(thread.imported)} · kept aside ${keptAsideText(thread.keptAside)}`,
    `condensed ${formatCount(prunings.condense)} · removed ${formatCount(prunings.remove)} · stubs ${formatCount(prunings.stub)}`,
    ...(thread.turns.max === null
      ? []
      : [`chat turns: ${formatCount(thread.turns.taken)} of ${formatCount(thread.turns.max)}`]),
    ...costLines(thread.summaryCosts),
    ...(thread.lastError === null ? [] : [`last error: ${safeText(thread.lastError)}`]),
    '',
    ...(thread.states.length === 0
      ? [
          'no compaction yet: one begins with a message or a request once the thread exceeds its threshold, unless disableAutoSummarize is set',
        ]
      : itemTable(thread.states, [
          { title: 'strategy', text: ({ strategy }) => strategy },
          { title: 'generation', count: ({ generation }) => generation },
          { title: 'status', text: ({ status }) => status },
          { title: 'covers', count: ({ coveredCount }) => coveredCount },
          { title: 'tokens covered', count: ({ coveredTokens }) => coveredTokens },
          { title: 'summary tokens', count: ({ summaryTokens }) => summaryTokens },
        ])),
  ]
}
