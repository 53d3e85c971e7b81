import { extractFacts, FACT_RULES, type Fact, rankFacts, standingsOf } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { type Conversation, conversationKinds, type Question } from '../search/conversation.js'
import { readConversations } from '../search/read.js'

/** Facts that are offered for a question: a page of them. */
const OFFERED = 20

export const factFigures = ['newer', 'both', 'extracted', 'wrong'].map((part) => `facts.${part}`)

/**
 * Questions of BEAM about values that changed, and about statements that contradict each other, answered with facts by rules alone:
 * whether the newer of two is offered before the older, and whether both sides are offered.
 */
export async function measureFacts(dataDir: string): Promise<Measured[]> {
  const updates: boolean[] = []
  const contradictions: boolean[] = []
  let [facts, messages] = [0, 0]
  for (const conversation of await readConversations(dataDir, 'beam')) {
    const known = factsOf(conversation)
    facts += known.facts.length
    messages += known.messages
    for (const question of conversation.questions) {
      const offered = offeredFor(question, known)
      if (question.ability === 'knowledge_update' && question.update !== undefined) {
        updates.push(placeOf(question.update.later, offered) < placeOf(question.update.earlier, offered))
      }
      if (question.ability === 'contradiction_resolution') {
        const sides = new Set(offered.slice(0, OFFERED))
        contradictions.push([...question.evidence].every((id) => sides.has(id)))
      }
    }
  }
  const note = `BEAM, ${FACT_RULES}, ${facts} facts of ${messages} messages of people`
  return [
    {
      name: 'facts.newer',
      value: share(updates),
      unit: 'share',
      target: '>= 0.85',
      note: `${updates.length} updates; ${note}`,
    },
    {
      name: 'facts.both',
      value: share(contradictions),
      unit: 'share',
      target: '>= 0.85',
      note: `${contradictions.length} contradictions, both sides among the first ${OFFERED}; ${note}`,
    },
    { name: 'facts.extracted', value: facts / messages, unit: 'facts/message', note },
    await measureWrong(dataDir),
  ]
}

/** Replaced facts that a person read and found rightly replaced, by agent and the source id of their message. */
const RIGHTLY_REPLACED = new Set(['chat 7#46', 'chat 7#82'])

/** Facts with one value at a time of all conversations that were replaced by one that says nothing of the kind. */
async function measureWrong(dataDir: string): Promise<Measured> {
  let [single, replaced, wrong] = [0, 0, 0]
  for (const kind of conversationKinds) {
    for (const conversation of await readConversations(dataDir, kind)) {
      const { facts, sources } = factsOf(conversation)
      const standings = standingsOf(facts)
      for (const { id, isSingle } of facts) {
        if (isSingle) single++
        if ((standings.get(id)?.supersededBy ?? null) === null) continue
        replaced++
        if (!RIGHTLY_REPLACED.has(`${conversation.agent}#${sources.get(id)}`)) wrong++
      }
    }
  }
  const note = `of ${single} facts with one value at a time in all conversations ${replaced} were replaced, each read by a person`
  return { name: 'facts.wrong', value: wrong / single, unit: 'share', target: '<= 0.01', note }
}

interface Known {
  readonly facts: readonly Fact[]
  /** By fact, the source id of its message. */
  readonly sources: ReadonlyMap<string, string>
  readonly messages: number
}

function factsOf({ threads }: Conversation): Known {
  const sources = new Map<string, string>()
  const facts: Fact[] = []
  let messages = 0
  for (const { thread, messages: said } of threads) {
    for (const [place, { role, content, sourceId }] of said.entries()) {
      if (role !== 'user') continue
      messages++
      for (const [index, draft] of extractFacts({ role, content }).entries()) {
        const id = `${String(place).padStart(6, '0')}-${String(index).padStart(3, '0')}`
        const held = { scope: thread, validFromMs: place, validToMs: null, recordedAtMs: place }
        facts.push({ ...draft, ...held, id, correctedBy: null, retractedAtMs: null })
        sources.set(id, sourceId ?? '')
      }
    }
  }
  return { facts, sources, messages }
}

/** The source ids of the facts for a question, best first. */
function offeredFor({ text }: Question, { facts, sources }: Known): string[] {
  return rankFacts(text, facts, standingsOf(facts)).map(({ id }) => sources.get(id) ?? '')
}

function placeOf(ids: ReadonlySet<string>, offered: readonly string[]): number {
  const place = offered.findIndex((id) => ids.has(id))
  return place < 0 ? Number.POSITIVE_INFINITY : place
}

function share(all: readonly boolean[]): number {
  return all.filter(Boolean).length / all.length
}
