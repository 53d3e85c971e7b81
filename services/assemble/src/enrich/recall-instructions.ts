import { lastingInstructions, type Memory, queryTerms, standingInstructions, takingsBack, termsOf } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { type HitPlace, loadInstructionPlaces, loadMemoryRows, type MemoryRow, type Tx } from '@heddle/store'
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
 * The lasting instructions of an agent's users that were not taken back, as memories: those with the most words of the request
 * first, then the latest, since what holds in general need not share a word with a request.
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
  const places = await loadInstructionPlaces(tx, { agentId, threadIds: conditions.threadIds, endings: true })
  const terms = new Set(queryTerms(query))
  const said: Said[] = []
  // All pages are read: the message with the most words of the request may be the oldest, and any may end another.
  for (let from = 0; from < places.length; from += PAGE_MESSAGES) {
    const page = places.slice(from, from + PAGE_MESSAGES)
    const rows = await loadMemoryRows(tx, { ...conditions, own, places: page, charactersMax: READ_CHARACTERS_MAX })
    const heard = rows.filter(({ isOfPerson }) => isOfPerson)
    said.push(...(await runCooperatively(sentencesOf(heard, page))))
  }
  said.sort((left, right) => left.row.orderedAtMs - right.row.orderedAtMs || left.seq - right.seq)
  const standing = standingInstructions(
    said.map(({ row, text }) => ({ text, thread: row.threadId, user: row.speaker })),
  ).filter(({ endedIn }) => endedIn === null)
  const found = said.flatMap(({ row }, index) => {
    const sentences = standing.flatMap(({ saidIn, sentence }) => (saidIn === index ? [sentence] : []))
    return held.has(row.messageId) ? [] : toInstruction(row, sentences, terms, own)
  })
  return found.sort((left, right) => right.score - left.score || right.atMs - left.atMs).slice(0, count)
}

/** A message with its sentences that ask for something lasting, or take it back. */
interface Said {
  readonly row: MemoryRow
  readonly seq: number
  readonly text: string
}

function* sentencesOf(rows: readonly MemoryRow[], places: readonly HitPlace[]): Generator<undefined, Said[]> {
  const said: Said[] = []
  for (const row of rows) {
    const taken = takingsBack(row.content).map(({ sentence }) => sentence)
    // Of a message of an earlier version of the rules nothing may be left.
    const text = [...new Set([...taken, ...lastingInstructions(row.content)])].join('\n')
    if (text !== '') said.push({ row, seq: places[row.place]?.seq ?? 0, text })
    yield
  }
  return said
}

function toInstruction(
  row: MemoryRow,
  sentences: readonly string[],
  terms: ReadonlySet<string>,
  own: RecallingThread,
): Memory[] {
  const text = sentences.join('\n').slice(0, TEXT_CHARACTERS_MAX).toWellFormed()
  if (text === '') return []
  const shared = new Set([...termsOf(text)].filter((term) => terms.has(term)))
  const score = terms.size === 0 ? 0 : shared.size / terms.size
  return [toMemory(row, { text, score, isExcerpt: text !== row.content.trim(), isInstruction: true }, own)]
}
