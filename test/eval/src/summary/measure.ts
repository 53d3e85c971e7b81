import { countTokens, summarizeExtractively } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { baselines } from './baselines.js'
import { type Compaction, readCompactions } from './compactions.js'
import { isOnlyNames, namesOf } from './names.js'
import { type Rouge, rouge } from './rouge.js'

/** The length at which summaries are compared. */
const TOKENS_MAX = 2_000

/** The counts of one summary. */
interface Judged {
  readonly thread: string
  readonly kept: readonly [number, number]
  readonly reused: readonly [number, number]
  /** Tokens in lines that are only names, of all tokens. */
  readonly nameLines: readonly [number, number]
  readonly rouge: Rouge
}

function judge({ thread, kept, reused, agentSummary }: Compaction, summary: string): Judged {
  const names = namesOf(summary)
  const found = (wanted: ReadonlySet<string>) => [...wanted].filter((name) => names.has(name)).length
  const tokensIn = (lines: readonly string[]) => lines.reduce((sum, line) => sum + countTokens(line), 0)
  const lines = summary.split('\n')
  return {
    thread,
    kept: [found(kept), kept.size],
    reused: [found(reused), reused.size],
    nameLines: [tokensIn(lines.filter(isOnlyNames)), tokensIn(lines)],
    rouge: rouge(summary, agentSummary),
  }
}

/** Compares the summary without a model with those that agents wrote, and with the names that were needed afterwards. */
export async function measureSummaries(dataDir: string): Promise<Measured[]> {
  const compactions = await readCompactions(dataDir)
  const own = compactions.map((compaction) => {
    const { sources: messages } = compaction
    const request = { purpose: 'compaction', messages, previousSummary: null, tokensMax: TOKENS_MAX } as const
    return judge(compaction, summarizeExtractively(request))
  })
  const others = Object.entries(baselines).map(([name, summarize]) => ({
    name,
    judged: compactions.map((compaction) => judge(compaction, summarize(compaction.sources, TOKENS_MAX))),
  }))
  const noteOf = (figureOf: (judged: readonly Judged[]) => number) =>
    `${compactions.length} compactions; ${others.map(({ name, judged }) => `${name} ${figureOf(judged).toFixed(3)}`).join(', ')}`
  const share = (part: 'kept' | 'reused' | 'nameLines', target: string): Measured => {
    const figureOf = (judged: readonly Judged[]) => pooled(judged.map((each) => each[part]))
    const each = own.map(({ thread, [part]: counts }) => `${thread} ${pooled([counts]).toFixed(2)}`)
    return {
      name: `summary.${part}`,
      value: figureOf(own),
      unit: 'share',
      target,
      note: `${noteOf(figureOf)}; ${each.join(', ')}`,
    }
  }
  const overlap = (part: keyof Rouge): Measured => {
    const figureOf = (judged: readonly Judged[]) =>
      judged.reduce((sum, each) => sum + each.rouge[part], 0) / judged.length
    const ceiling = Math.max(...others.map(({ judged }) => figureOf(judged)))
    const value = figureOf(own)
    return { name: `summary.${part}`, value, unit: 'F1', ceiling, target: '>= 1', note: noteOf(figureOf) }
  }
  return [
    share('kept', '>= 0.75'),
    share('reused', '>= 0.6'),
    share('nameLines', '<= 0.2'),
    overlap('rouge1'),
    overlap('rouge2'),
    overlap('rougeL'),
  ]
}

/** Hits of all summaries together, so that a summary with few names does not weigh as much as one with many. */
function pooled(counts: readonly (readonly [number, number])[]): number {
  const [hits, wanted] = counts.reduce(([hit, all], [part, whole]) => [hit + part, all + whole], [0, 0])
  return wanted === 0 ? 0 : hits / wanted
}
