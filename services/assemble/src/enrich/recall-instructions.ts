import { lastingInstructions, type Memory, queryTerms, termsOf } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { loadInstructionPlaces, loadMemoryRows, type MemoryRow, type Tx } from '@heddle/store'
import { type RecallingThread, toMemory } from './memory-of-row.js'

/** Characters of the instructions of one message. */
const TEXT_CHARACTERS_MAX = 1_000
/** Characters of a message in which instructions are looked for. */
const READ_CHARACTERS_MAX = 8_000
/** Messages that are loaded at once. */
const PAGE_MESSAGES = 50

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
  }: Omit<Parameters<typeof loadMemoryRows>[1], 'places' | 'own' | 'charactersMax'> & {
    readonly agentId: string | null
    readonly own: RecallingThread & { readonly headSeq: number }
  },
  { query, held, count }: Wanted,
): Promise<Memory[]> {
  const places = await loadInstructionPlaces(tx, { agentId, threadIds: conditions.threadIds })
  const terms = new Set(queryTerms(query))
  const found: Memory[] = []
  // All pages are read: the message with the most words of the request may be the oldest.
  for (let from = 0; from < places.length; from += PAGE_MESSAGES) {
    const page = places.slice(from, from + PAGE_MESSAGES)
    const rows = await loadMemoryRows(tx, { ...conditions, own, places: page, charactersMax: READ_CHARACTERS_MAX })
    const heard = rows.filter(({ messageId, isOfPerson }) => isOfPerson && !held.has(messageId))
    found.push(...(await runCooperatively(toInstructions(heard, terms, own))))
  }
  return found.sort((left, right) => right.score - left.score || right.atMs - left.atMs).slice(0, count)
}

function* toInstructions(
  rows: readonly MemoryRow[],
  terms: ReadonlySet<string>,
  own: RecallingThread,
): Generator<undefined, Memory[]> {
  const found: Memory[] = []
  for (const row of rows) {
    found.push(...toInstruction(row, terms, own))
    yield
  }
  return found
}

function toInstruction(row: MemoryRow, terms: ReadonlySet<string>, own: RecallingThread): Memory[] {
  const text = lastingInstructions(row.content).join('\n').slice(0, TEXT_CHARACTERS_MAX).toWellFormed()
  // Of a message of an earlier version of the rules nothing may be left.
  if (text === '') return []
  const shared = new Set([...termsOf(text)].filter((term) => terms.has(term)))
  const score = terms.size === 0 ? 0 : shared.size / terms.size
  return [toMemory(row, { text, score, isExcerpt: text !== row.content.trim(), isInstruction: true }, own)]
}
