import type { Client } from '@heddle/client/interface'
import type { SearchLegs } from '@heddle/contracts'
import type { Conversation, Question } from './read.js'

/** Results of a search by which a question is judged; the mean reciprocal rank counts 0 for answers past them. */
const RESULTS = 100

/** How a question was answered. */
export interface Judged {
  readonly agent: string
  readonly question: Question
  /** The positions of its answers among the results, from 0, ascending. */
  readonly places: readonly number[]
}

export async function judge(client: Client, conversations: readonly Conversation[], by: SearchLegs): Promise<Judged[]> {
  const judged: Judged[] = []
  for (const { agent, questions } of conversations) {
    for (const question of questions) {
      const { items, degraded } = await client.search({ query: question.text, agent, limit: RESULTS, by })
      if (degraded !== null) throw new Error(`a search was not what is measured: ${degraded}`)
      const places = items.flatMap(({ sourceId }, place) => (question.evidence.has(sourceId ?? '') ? [place] : []))
      judged.push({ agent, question, places })
    }
  }
  return judged
}

export interface Shares {
  readonly any5: number
  readonly any10: number
  readonly recall10: number
  readonly mrr: number
}

export function shares(judged: readonly Judged[]): Shares {
  const share = (of: (each: Judged) => number) => judged.reduce((sum, each) => sum + of(each), 0) / judged.length
  const within = (places: readonly number[], count: number) => places.filter((place) => place < count).length
  return {
    any5: share(({ places }) => Math.min(1, within(places, 5))),
    any10: share(({ places }) => Math.min(1, within(places, 10))),
    recall10: share(({ question, places }) => within(places, 10) / question.evidence.size),
    mrr: share(({ places: [best] }) => (best === undefined ? 0 : 1 / (best + 1))),
  }
}
