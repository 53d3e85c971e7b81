import type { Pausable } from '../recall/steps.js'
import { isDated, isReply } from './measure.js'
import { memberships } from './memberships.js'
import { decodePostings } from './posting-runs.js'
import { PassageReader } from './rank/passage-reader.js'
import { BESIDE_SHARE, type Parts, repliesIn, scoreTerms } from './rank/rank.js'
import { coverage, givenShare } from './rank/thread-documents.js'
import { Scores } from './scores.js'
import type { RankedDocument, WordQuery } from './word-query.js'

/** The parts of a document's score by words: `side x times x (passage + neighbours + thread + speaker)`. */
export interface WordExplanation {
  /** The best passage, counted from 1; null for a document without a term of the query. */
  readonly passage: number | null
  /** The terms in that passage, the highest score first. */
  readonly terms: readonly { readonly term: string; readonly score: number }[]
  /** The share of the query's weight that the passage has, from 0 to 1. */
  readonly share: number
  /** The scores of its terms, less those of a passage with a small share of the query. */
  readonly passageScore: number
  /** The shares of the documents beside it. */
  readonly neighbours: number
  readonly thread: number
  readonly speaker: number
  /** The factor for what a model wrote, 1 for others. */
  readonly side: number
  /** The factor for a text that names a time, if the query asks for one, 1 for others. */
  readonly times: number
}

/** Why documents have their scores by words: the same figures as in {@link rankWords}, in their order. */
export function* explainWords(
  query: WordQuery,
  documents: readonly Pick<RankedDocument, 'thread' | 'seq'>[],
): Pausable<WordExplanation[]> {
  const parts = yield* scoreTerms(query)
  const best = yield* bestPassages(parts, documents, query.weights.neighbours.length)
  const termsOf = yield* termsAt(parts, best)
  const speakers = memberships(query.terms.flatMap((term) => term.speakers))
  const replies = repliesIn(query.replies)
  const { weights } = query
  return documents.map(({ thread, seq }) => {
    const ofSeqs = best.get(thread)
    const own = ofSeqs?.get(seq)
    let neighbours = 0
    for (const [index, share] of weights.neighbours.entries()) {
      for (const beside of [seq - index - 1, seq + index + 1]) {
        neighbours += share * givenBy(ofSeqs?.get(beside), weights.replies)
      }
    }
    const ofThread = weights.thread * (parts.ofThreads.get(thread) ?? 0)
    return {
      passage: own === undefined ? null : own.passage + 1,
      terms: termsOf.get(thread)?.get(seq) ?? [],
      share: own?.share ?? 0,
      passageScore: own?.score ?? 0,
      neighbours,
      thread: own === undefined ? BESIDE_SHARE * ofThread : ofThread,
      speaker: (speakers.get(thread)?.get(seq) ?? 0) > 0 ? weights.speaker : 0,
      side: replies.has(thread, seq) ? weights.replies : 1,
      times: query.asksForTime && own?.isDated === true ? 1 + weights.times : 1,
    }
  })
}

/** The best passage of a document. */
interface Best {
  readonly passage: number
  readonly share: number
  readonly score: number
  /** The most that any of its passages gives to the documents beside it. */
  readonly given: number
  readonly isReply: boolean
  /** Whether any of its passages names a time. */
  readonly isDated: boolean
}

/** Values by the number of a thread, and by `seq`. */
type Places<Value> = Map<number, Map<number, Value>>

/** The best passages of some documents and of those around them. */
function* bestPassages(
  { runs, weightOfAll }: Parts,
  documents: readonly Pick<RankedDocument, 'thread' | 'seq'>[],
  distanceMax: number,
): Pausable<Places<Best>> {
  const wanted = new Scores()
  for (const { thread, seq } of documents) {
    for (let at = Math.max(1, seq - distanceMax); at <= seq + distanceMax; at++) wanted.of(thread).add(at, 1)
  }
  const best: Places<Best> = new Map()
  for (const [thread, seqs] of wanted) {
    const ofSeqs = new Map<number, Best>()
    best.set(thread, ofSeqs)
    const passages = new PassageReader(runs.get(thread) ?? [])
    while (passages.next()) {
      const { seq, passage, measure } = passages
      if (seqs.get(seq) === 0) continue
      const share = passages.share / weightOfAll
      const score = passages.score * coverage(share)
      const known = ofSeqs.get(seq)
      const given = Math.max(known?.given ?? 0, score * givenShare(measure))
      const dated = isDated(measure) || known?.isDated === true
      if (known === undefined || score > known.score || (score === known.score && passage < known.passage)) {
        ofSeqs.set(seq, { passage, share, score, given, isReply: isReply(measure), isDated: dated })
      } else ofSeqs.set(seq, { ...known, given, isDated: dated })
    }
    yield
  }
  return best
}

function givenBy(best: Best | undefined, ofReplies: number): number {
  if (best === undefined) return 0
  return best.given * (best.isReply ? Math.sqrt(ofReplies) : 1)
}

interface TermScore {
  readonly term: string
  readonly score: number
}

/** The terms in the best passages. A frequent term has many thousands of postings, most of them in other threads. */
function* termsAt({ terms }: Parts, best: Places<Best>): Pausable<Places<TermScore[]>> {
  const found: Places<TermScore[]> = new Map()
  for (const thread of best.keys()) found.set(thread, new Map())
  for (const { term, lists, scoreOf } of terms) {
    const { runs, seqs, passages, measures } = decodePostings(lists)
    for (const { thread, from, to } of runs) {
      const [ofSeqs, termsOf] = [best.get(thread), found.get(thread)]
      if (ofSeqs === undefined || termsOf === undefined) continue
      for (let index = from; index < to; index++) {
        const seq = seqs[index] ?? 0
        if (ofSeqs.get(seq)?.passage !== passages[index]) continue
        const scored = { term, score: scoreOf[measures[index] ?? 0] ?? 0 }
        const known = termsOf.get(seq)
        if (known === undefined) termsOf.set(seq, [scored])
        else known.push(scored)
      }
    }
    yield
  }
  for (const termsOf of found.values()) {
    for (const each of termsOf.values()) each.sort((left, right) => right.score - left.score)
  }
  return found
}
