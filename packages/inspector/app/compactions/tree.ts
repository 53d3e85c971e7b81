import type { SummaryNode } from '@heddle/contracts'
import { figure } from '../data/text.js'

export interface LoadedSummaries {
  /** Those that contexts show, that of the thread's own settings first. */
  readonly wholes: readonly SummaryNode[]
  /** The loaded parts of a summary, oldest first. Several summaries can share a part, which is listed once. */
  partsOf(node: SummaryNode): readonly SummaryNode[]
}

export function loadedSummaries(nodes: readonly SummaryNode[]): LoadedSummaries {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return {
    wholes: nodes.filter(({ kind }) => kind === 'whole'),
    partsOf: ({ children }) => children.flatMap((id) => byId.get(id) ?? []),
  }
}

const names = { whole: 'Whole summary', part: 'Summary of summaries', leaf: 'Summary of messages' }

/** Its kind and the messages that it covers, for headings and buttons; for one of requests, their limit besides. */
export function nameOf({ kind, from, to, lane }: Pick<SummaryNode, 'kind' | 'from' | 'to' | 'lane'>): string {
  const range =
    from === null || to === null ? '' : from.seq === to.seq ? ` #${from.seq}` : ` #${from.seq} to #${to.seq}`
  return `${names[kind]}${range}${lane === null || lane.isOwn ? '' : `, requested in ${figure(lane.limitTokens)} tokens`}`
}

/** The contexts that show a summary. */
export function contextsOf({ strategy, limitTokens, isOwn }: NonNullable<SummaryNode['lane']>): string {
  return `${strategy} in ${figure(limitTokens)} tokens, as ${isOwn ? 'the thread is set' : 'requests asked'}`
}
