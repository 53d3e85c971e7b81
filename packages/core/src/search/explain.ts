import type { Pausable } from '../recall/steps.js'
import { isDated, isReply } from './measure.js'
import { memberships } from './memberships.js'
import { PassageScores } from './passage-scores.js'
import { eachPosting } from './postings.js'
import { BESIDE_SHARE, coverage, givenShare, type Parts, repliesIn, scorePassages, scoreTerms } from './rank.js'
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
  const best = bestPassages(parts, documents, query.weights.neighbours.length)
  yield
  const termsOf = termsAt(parts, best)
  yield
  const speakers = memberships(query.terms.flatMap((term) => term.speakers))
  const replies = repliesIn(query.replies)
  const { weights } = query
  return documents.map(({ thread, seq }) => {
    const own = best.get(placeOf(thread, seq))
    let neighbours = 0
    for (const [index, share] of weights.neighbours.entries()) {
      for (const beside of [seq - index - 1, seq + index + 1]) {
        neighbours += share * givenBy(best.get(placeOf(thread, beside)), weights.replies)
      }
    }
    const ofThread = weights.thread * (parts.ofThreads.get(thread) ?? 0)
    return {
      passage: own === undefined ? null : own.passage + 1,
      terms: termsOf.get(placeOf(thread, seq)) ?? [],
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

const placeOf = (thread: number, seq: number) => `${thread} ${seq}`

/** The best passages of some documents and of those around them, by their places. */
function bestPassages(
  { runs, weightOfAll }: Parts,
  documents: readonly Pick<RankedDocument, 'thread' | 'seq'>[],
  distanceMax: number,
): Map<string, Best> {
  const wanted = new Scores()
  for (const { thread, seq } of documents) {
    for (let at = Math.max(1, seq - distanceMax); at <= seq + distanceMax; at++) wanted.of(thread).add(at, 1)
  }
  const best = new Map<string, Best>()
  const passages = new PassageScores()
  for (const [thread, seqs] of wanted) {
    scorePassages(runs.get(thread) ?? [], passages)
    passages.each((seq, passage, sum, weight, measure) => {
      if (seqs.get(seq) === 0) return
      const share = weight / weightOfAll
      const score = sum * coverage(share)
      const place = placeOf(thread, seq)
      const known = best.get(place)
      const given = Math.max(known?.given ?? 0, score * givenShare(measure))
      const dated = isDated(measure) || known?.isDated === true
      if (known === undefined || score > known.score || (score === known.score && passage < known.passage)) {
        best.set(place, { passage, share, score, given, isReply: isReply(measure), isDated: dated })
      } else best.set(place, { ...known, given, isDated: dated })
    })
  }
  return best
}

function givenBy(best: Best | undefined, ofReplies: number): number {
  if (best === undefined) return 0
  return best.given * (best.isReply ? Math.sqrt(ofReplies) : 1)
}

/** The terms in the best passages. */
function termsAt({ terms }: Parts, best: ReadonlyMap<string, Best>): Map<string, { term: string; score: number }[]> {
  const found = new Map<string, { term: string; score: number }[]>()
  for (const { term, lists, scoreOf } of terms) {
    eachPosting(lists, ({ thread, seq, passage, measure }) => {
      const place = placeOf(thread, seq)
      if (best.get(place)?.passage !== passage) return
      found.set(place, [...(found.get(place) ?? []), { term, score: scoreOf[measure] ?? 0 }])
    })
  }
  for (const each of found.values()) each.sort((left, right) => right.score - left.score)
  return found
}
