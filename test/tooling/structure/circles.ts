/** An edge of a graph of files or folders. */
export interface Edge {
  readonly from: string
  readonly to: string
}

/**
 * The circles of a graph: each set of two or more nodes that all reach each other (Tarjan's strongly connected
 * components). Recursion is as deep as the longest chain of imports, some hundred calls.
 */
export function circlesOf(edges: readonly Edge[]): readonly (readonly string[])[] {
  const targets = new Map<string, Set<string>>()
  for (const { from, to } of edges) targets.set(from, (targets.get(from) ?? new Set()).add(to))
  const numbers = new Map<string, { index: number; low: number; isOpen: boolean }>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (node: string): { index: number; low: number; isOpen: boolean } => {
    const own = { index: numbers.size, low: numbers.size, isOpen: true }
    numbers.set(node, own)
    open.push(node)
    for (const to of targets.get(node) ?? []) {
      const known = numbers.get(to)
      if (known === undefined) own.low = Math.min(own.low, visit(to).low)
      else if (known.isOpen) own.low = Math.min(own.low, known.index)
    }
    if (own.low !== own.index) return own
    const circle = open.splice(open.indexOf(node))
    for (const member of circle) {
      const closed = numbers.get(member)
      if (closed !== undefined) closed.isOpen = false
    }
    if (circle.length > 1) circles.push(circle.toSorted())
    return own
  }
  for (const node of targets.keys()) if (!numbers.has(node)) visit(node)
  return circles
}
