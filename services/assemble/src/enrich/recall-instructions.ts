import { lastingInstructions, type Memory, queryTerms, termsOf } from '@heddle/core'
import { loadInstructionPlaces, loadMemoryRows, type MemoryRow, type Tx } from '@heddle/store'
import { type RecallingThread, toMemory } from './memory-of-row.js'

/** Characters of the instructions of one message. */
const TEXT_CHARACTERS_MAX = 1_000

interface Wanted {
  readonly query: string
  /** Messages that the context shows anyway. */
  readonly held: ReadonlySet<string>
  readonly count: number
}

/**
 * The lasting instructions of an agent's users as memories: those with the most words of the request first, then the
 * latest, since what holds in general need not share a word with a request.
 */
export async function recallInstructions(
  tx: Tx,
  {
    agentId,
    own,
    ...conditions
  }: Omit<Parameters<typeof loadMemoryRows>[1], 'places' | 'own'> & {
    readonly agentId: string | null
    readonly own: RecallingThread & { readonly headSeq: number }
  },
  { query, held, count }: Wanted,
): Promise<Memory[]> {
  const places = await loadInstructionPlaces(tx, { agentId })
  const rows = await loadMemoryRows(tx, { ...conditions, own, places })
  const terms = new Set(queryTerms(query))
  return rows
    .filter(({ messageId, isOfPerson }) => isOfPerson && !held.has(messageId))
    .flatMap((row) => toInstruction(row, terms, own))
    .sort((left, right) => right.score - left.score || right.atMs - left.atMs)
    .slice(0, count)
}

function toInstruction(row: MemoryRow, terms: ReadonlySet<string>, own: RecallingThread): Memory[] {
  const text = lastingInstructions(row.content).join('\n').slice(0, TEXT_CHARACTERS_MAX).toWellFormed()
  // Of a message of an earlier version of the rules nothing may be left.
  if (text === '') return []
  const shared = new Set([...termsOf(text)].filter((term) => terms.has(term)))
  const score = terms.size === 0 ? 0 : shared.size / terms.size
  return [toMemory(row, { text, score, isExcerpt: text !== row.content.trim(), isInstruction: true }, own)]
}
