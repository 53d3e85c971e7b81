import type { FactsClient } from '@heddle/client/interface'
import {
  ConflictError,
  type Fact,
  type FactBody,
  factBodySchema,
  factParamsSchema,
  limits,
  notFound,
  parse,
  validationError,
} from '@heddle/contracts'
import { holdsSecret, sliceWhole, threadIdOf } from '@heddle/core'
import {
  correctFact,
  type FactRow,
  holdForFacts,
  insertFacts,
  loadCodes,
  loadFact,
  retractFact,
  type Tx,
} from '@heddle/store'
import { loadAgentOr } from '../items/items.js'
import type { EngineContext } from '../setup/options.js'
import { extractThreadFacts } from './extract-facts.js'
import { loadStandings, viewFacts } from './fact-view.js'
import { listFacts } from './list-facts.js'

export function factsClient(parts: EngineContext): FactsClient {
  return {
    list: (agent, options) => listFacts(parts, agent, options),
    get: (agent, fact) => getFact(parts, { agent, fact }),
    extract: (thread, options) => extractThreadFacts(parts, thread, options),
    put: (agent, fact, body) => putFact(parts, { agent, fact, body }),
    retract: (agent, fact) => retract(parts, { agent, fact }),
  }
}

/** A hand-made fact is as sure as the person who puts it. */
const CONFIDENCE = 1

/**
 * Records a fact, and in whose place it is put. The same fact again changes nothing.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR` also for a text with a secret
 * @throws ConflictError for another content under a known id
 */
async function putFact(
  { store, projectId, clock }: EngineContext,
  given: { readonly agent: string; readonly fact: string; readonly body: FactBody },
): Promise<Fact> {
  const { agent, fact: id } = parse(factParamsSchema, { agent: given.agent, fact: given.fact }, 'fact')
  const body = parse(factBodySchema, given.body, 'body')
  const { subject, predicate, object, thread, sources = [], corrects } = body
  const statement = body.statement ?? sliceWhole(`${subject} ${predicate} ${object}`, limits.factCharactersMax)
  refuseSecrets({ subject, predicate, object })
  // The name of a secret may be in the subject, and its value in the object.
  refuseSecrets({ fact: `${subject}: ${object}` })
  refuseSecrets({ fact: `${subject} ${predicate} ${object}` })
  refuseSecrets({ statement })
  if (sources.length > 0 && thread === undefined)
    throw validationError('thread', 'is needed with sources: it has their messages', 'nothing')
  if (corrects === id) throw validationError('corrects', 'must be another fact', id)
  const validFromMs = body.validFrom === undefined ? clock.nowMs() : Date.parse(body.validFrom)
  const validToMs = body.validTo === undefined ? null : Date.parse(body.validTo)
  if (validToMs !== null && validToMs <= validFromMs)
    throw validationError('validTo', 'must be after validFrom', body.validTo)
  return await store.inProject(projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    const threadId = thread === undefined ? null : threadIdOf(projectId, thread)
    const corrected = corrects === undefined ? null : await loadCorrected(tx, { agentId, threadId, corrects })
    // A correction repeats words of the fact that it corrects: it is erased with the messages that these are from.
    const from = sources.length > 0 ? sources : (corrected?.sources ?? [])
    if (threadId !== null) await holdSources(tx, { agent, agentId, thread: thread ?? '', threadId, sources: from })
    const row = {
      ...{ id, subject, predicate, object, statement, sources: from, validFromMs, validToMs },
      kind: body.kind ?? 'other',
      isNegated: body.negated ?? false,
      isSingle: body.single ?? false,
      confidence: body.confidence ?? CONFIDENCE,
    } as const
    const added = await insertFacts(tx, { agentId, threadId, extractor: null, origin: 'put', facts: [row] })
    const stored = await loadOr(tx, { agentId, id })
    if (added === 0) refuseOther(stored, { ...row, threadId }, body)
    if (corrects !== undefined && stored.retractedAtMs === null)
      await correctFact(tx, { agentId, id: corrects, correctedBy: id })
    return await viewOf(tx, { agent, agentId, row: stored })
  })
}

/** @throws PermanentError `NOT_FOUND` */
async function getFact(
  { store, projectId }: EngineContext,
  given: { readonly agent: string; readonly fact: string },
): Promise<Fact> {
  const { agent, fact: id } = parse(factParamsSchema, given, 'fact')
  return await store.inProject(projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    return await viewOf(tx, { agent, agentId, row: await loadOr(tx, { agentId, id }) })
  })
}

/** @throws PermanentError `NOT_FOUND` */
async function retract(
  { store, projectId }: EngineContext,
  given: { readonly agent: string; readonly fact: string },
): Promise<Fact> {
  const { agent, fact: id } = parse(factParamsSchema, given, 'fact')
  return await store.inProject(projectId, async (tx) => {
    const { agentId } = await loadAgentOr(tx, agent)
    await retractFact(tx, { agentId, id })
    return await viewOf(tx, { agent, agentId, row: await loadOr(tx, { agentId, id }) })
  })
}

async function viewOf(
  tx: Tx,
  { agent, agentId, row }: { agent: string; agentId: string; row: FactRow },
): Promise<Fact> {
  const standings = await loadStandings(tx, agentId, [row])
  const [fact] = await viewFacts(tx, agent, { rows: [row], standings })
  if (fact === undefined) throw new Error('a fact was not shown')
  return fact
}

async function loadOr(tx: Tx, { agentId, id }: { agentId: string; id: string }): Promise<FactRow> {
  const row = await loadFact(tx, { agentId, id })
  if (row === null) throw notFound('fact', id, 'see `heddle facts list`')
  return row
}

function refuseSecrets(texts: Readonly<Record<string, string>>): void {
  for (const [field, text] of Object.entries(texts)) {
    if (holdsSecret(text))
      throw validationError(
        field,
        'must not hold a secret, such as a key or a password',
        `a text of ${text.length} characters`,
      )
  }
}

async function holdSources(
  tx: Tx,
  {
    agent,
    agentId,
    thread,
    threadId,
    sources,
  }: { agent: string; agentId: string; thread: string; threadId: string; sources: readonly string[] },
): Promise<void> {
  if (!(await holdForFacts(tx, { agentId, threadId })))
    throw notFound('thread', thread, `agent "${agent}" has no such thread; see \`heddle threads list\``)
  const found = await loadCodes(tx, { threadId, ids: sources })
  const missing = sources.find((id) => !found.has(id))
  if (missing !== undefined) throw validationError('sources', 'must be messages of the thread', missing)
}

async function loadCorrected(
  tx: Tx,
  { agentId, threadId, corrects }: { agentId: string; threadId: string | null; corrects: string },
): Promise<FactRow> {
  const corrected = await loadOr(tx, { agentId, id: corrects })
  if (corrected.threadId === threadId) return corrected
  const scope = corrected.thread === null ? 'all threads of the agent' : `thread "${corrected.thread}"`
  throw validationError(
    'thread',
    `must be the scope of the fact that it corrects: ${scope}`,
    threadId === null ? 'nothing' : 'another thread',
  )
}

type Content = Omit<FactRow, 'thread' | 'recordedAtMs' | 'correctedBy' | 'retractedAtMs' | 'extractor' | 'origin'>

/** @throws ConflictError if the stored fact has another content; a time that was not given is the stored one */
function refuseOther(stored: FactRow, given: Content, body: FactBody): void {
  const contentOf = ({ validFromMs, predicate, confidence, ...fact }: Content) =>
    JSON.stringify([
      ...[fact.subject, predicate.toLowerCase(), fact.object, fact.statement, fact.kind, fact.isNegated, fact.isSingle],
      ...[fact.threadId, fact.validToMs, [...fact.sources].sort(), confidence.toFixed(4)],
      body.validFrom === undefined ? null : validFromMs,
    ])
  if (contentOf(stored) === contentOf(given)) return
  throw new ConflictError(`fact: ${given.id} has another content, and a fact never changes`, {
    field: 'fact',
    received: given.id,
    hint: 'put a new fact that corrects it',
  })
}
