/** The kinds of details that a compaction may lose (docs/summaries.md#what-a-compaction-lost). */
export const atomKinds = [
  'constraint',
  'correction',
  'decision',
  'path',
  'command',
  'error',
  'todo',
  'url',
  'number',
  'identifier',
  'name',
] as const
export type AtomKind = (typeof atomKinds)[number]

/**
 * Where a context has a detail of covered messages. `summary`: in the summary; `pinned`: in a pinned message; `raw`: in another
 * message that is not covered; `ledger`: in the ledger of the covered messages, whose reference the summary has; `recall`: in a
 * message whose reference is shown; `lost`: nowhere.
 */
export const atomFates = ['summary', 'pinned', 'raw', 'ledger', 'recall', 'lost'] as const
export type AtomFate = (typeof atomFates)[number]
