import { countTokens, messageReference, type SummarySource, summarizeByTree, summarizeExtractively } from '@heddle/core'
import type { Case } from './cases.js'

/** A summary of a case in at most `tokensMax` tokens; null if nobody wrote one. */
export type Summarize = (one: Case, tokensMax: number) => string | null

/** Tokens of a leaf of the tree, so that sessions of this size have some levels. */
const SHAPE = { leafTokens: 8_000, fanOut: 8 }

export const summarizers: Readonly<Record<'extractive' | 'scripted' | 'tree' | 'agent', Summarize>> = {
  extractive: ({ sources: messages }, tokensMax) =>
    summarizeExtractively({ purpose: 'compaction', messages, previousSummary: null, tokensMax }),
  scripted: ({ sources }, tokensMax) => scripted(sources, tokensMax),
  tree: ({ covered }, tokensMax) =>
    summarizeByTree(covered, SHAPE, { tokensMax, before: null, reference: ({ code }) => messageReference(code) }),
  agent: ({ agentSummary }) => agentSummary,
}

/** A model that retells what the agent said, and leaves out what people demanded, all results and all references. */
function scripted(sources: readonly SummarySource[], tokensMax: number): string {
  const lines = ['They worked on the task together.']
  let left = tokensMax - countTokens(lines[0] ?? '') - 1
  const said = sources.filter(({ role, text }) => role === 'assistant' && /^\p{L}/u.test(text))
  for (const { text } of said.toReversed()) {
    const line = `- ${text.split('\n', 1)[0]?.slice(0, 160) ?? ''}`.toWellFormed()
    const tokens = countTokens(line) + 1
    if (tokens > left) break
    left -= tokens
    lines.splice(1, 0, line)
  }
  return lines.join('\n')
}
