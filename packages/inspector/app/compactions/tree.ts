import type { SummaryNode } from '@heddle/contracts'

/** The loaded summaries by the summary that they are a part of; the whole is under null. Their order is kept. */
export function partsBySummary(nodes: readonly SummaryNode[]): ReadonlyMap<string | null, readonly SummaryNode[]> {
  const parts = new Map<string | null, SummaryNode[]>()
  for (const node of nodes) {
    const siblings = parts.get(node.parent)
    if (siblings === undefined) parts.set(node.parent, [node])
    else siblings.push(node)
  }
  return parts
}

const names = { whole: 'Whole summary', part: 'Summary of summaries', leaf: 'Summary of messages' }

/** Its kind and the messages that it covers, for headings and buttons. */
export function nameOf({ kind, from, to }: Pick<SummaryNode, 'kind' | 'from' | 'to'>): string {
  const range =
    from === null || to === null ? '' : from.seq === to.seq ? ` #${from.seq}` : ` #${from.seq} to #${to.seq}`
  return `${names[kind]}${range}`
}
