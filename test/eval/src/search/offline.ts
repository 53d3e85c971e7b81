import { defaultSettings, type SearchLegs, type Settings, type ToolCall } from '@heddle/contracts'
import {
  buildSegment,
  comparedResults,
  documentFilter,
  findPostings,
  finish,
  fuseLegs,
  type NearDocument,
  type PlacedDocument,
  postedTerms,
  type RankedDocument,
  rankWords,
  reorder,
  type SearchQuery,
  type Segment,
  searchDocument,
  searchQuery,
  toolCatalogOf,
  unknownShare,
  type VectorWeights,
  wordQuery,
} from '@heddle/core'
import { toMessage } from '../messages.js'
import type { Conversation, Question } from './conversation.js'

/** Documents that each leg ranks, as in a search that is not narrowed. */
const CANDIDATES = 1_200

export interface OfflineSearch {
  readonly by: SearchLegs
  readonly words: Settings['search']['words']
  /** The nearest messages of a question; without them the ranking is by words alone. */
  readonly vectors?: {
    readonly model: string
    readonly weights: VectorWeights
    readonly nearest: (question: Question) => readonly NearDocument[]
  }
}

export const byWords: OfflineSearch = { by: 'words', words: defaultSettings.search.words }

/** The words of a conversation in memory: a search is the pure ranking of core alone, without a store. */
export class OfflineAgent {
  readonly documents: readonly PlacedDocument[]
  readonly #segment: Segment
  readonly #sourceIds: readonly (readonly string[])[]
  readonly #threadLengths: ReadonlyMap<number, number>
  readonly #queries = new Map<string, { query: SearchQuery; lists: ReadonlyMap<string, readonly Uint8Array[]> }>()

  constructor(readonly conversation: Conversation) {
    const { threads } = conversation
    this.documents = threads.flatMap(({ messages }, index) => documentsOf(messages, index + 1))
    this.#segment = buildSegment(this.documents)
    this.#sourceIds = threads.map(({ messages }) => messages.map(({ sourceId }) => sourceId ?? ''))
    this.#threadLengths = new Map(
      threads.map((_, index) => {
        const own = this.documents.filter(({ thread }) => thread === index + 1)
        return [index + 1, own.reduce((sum, { length }) => sum + length, 0)]
      }),
    )
  }

  /** The source ids of the messages that a question finds, best first. */
  search(question: Question, { by, words, vectors }: OfflineSearch): string[] {
    const { query, lists } = this.#read(question.text)
    const listsOf = (term: string) => lists.get(term) ?? []
    const { documents, length } = this.#segment
    const parts = wordQuery(query, {
      listsOf,
      only: { thread: null, conditions: [] },
      scope: { documents, length },
      threadLengths: this.#threadLengths,
      weights: words,
    })
    const ranked = fuseLegs(by, {
      words: by === 'meaning' ? [] : finish(rankWords({ ...parts, limit: CANDIDATES })).documents,
      vectors: by === 'words' ? [] : (vectors?.nearest(question) ?? []),
      model: vectors?.model ?? null,
      unknownShare: unknownShare(query, listsOf),
      weights: by === 'words' || vectors === undefined ? { always: 0, unknownWords: 0 } : vectors.weights,
      neighbours: words.neighbours,
      isWanted: documentFilter(parts.only),
    })
    const found = ranked.filter(
      ({ thread, seq }) => this.#messageAt(thread, seq) !== undefined && isBefore(seq, question),
    )
    return this.#reorder(question.text, found).map(({ thread, seq }) => this.sourceId(thread, seq))
  }

  #reorder(query: string, found: readonly RankedDocument[]): RankedDocument[] {
    const compared = found.slice(0, comparedResults(query))
    const statements = compared.map(({ thread, seq, score }) => {
      const { content = '', role = 'user', metadata } = this.#messageAt(thread, seq) ?? {}
      const speaker = metadata?.['name']
      const isOfPerson = role === 'user' || speaker !== undefined
      return {
        text: content,
        isOfPerson,
        speaker: typeof speaker === 'string' ? speaker : null,
        atMs: thread,
        seq,
        score,
      }
    })
    const { order } = reorder(query, statements)
    return [...order.flatMap((index) => compared[index] ?? []), ...found.slice(compared.length)]
  }

  #messageAt(thread: number, seq: number) {
    return this.conversation.threads[thread - 1]?.messages[seq - 1]
  }

  sourceId(thread: number, seq: number): string {
    return this.#sourceIds[thread - 1]?.[seq - 1] ?? ''
  }

  #read(text: string) {
    const known = this.#queries.get(text)
    if (known !== undefined) return known
    const query = searchQuery(text, null)
    const terms = postedTerms(query)
    const lists = new Map<string, Uint8Array[]>()
    for (const { bytes } of this.#segment.blocks) {
      for (const [term, list] of findPostings(bytes, terms)) lists.set(term, [...(lists.get(term) ?? []), list])
    }
    const read = { query, lists }
    this.#queries.set(text, read)
    return read
  }
}

/** A session is one thread. */
function isBefore(seq: number, { before }: Question): boolean {
  return before === undefined || seq <= before.index
}

const catalog = toolCatalogOf(defaultSettings.tools)

function documentsOf(inputs: Conversation['threads'][number]['messages'], thread: number): PlacedDocument[] {
  const calls = new Map<string, ToolCall>()
  return inputs.map((input, index) => {
    for (const call of input.toolCalls ?? []) calls.set(call.id, call)
    const call = calls.get(input.toolCallId ?? '') ?? null
    const { sentAt, metadata = null } = input
    const message = { ...toMessage({ ...input, id: input.id ?? '' }, index), metadata, sentAtMs: timeOf(sentAt) }
    return { thread, seq: index + 1, ...searchDocument(message, { call, catalog }) }
  })
}

function timeOf(sentAt: string | undefined): number | null {
  return sentAt === undefined ? null : Date.parse(sentAt)
}
