import {
  type ExtractedFacts,
  type FactExtraction,
  factExtractionSchema,
  notFound,
  parse,
  threadParamsSchema,
} from '@heddle/contracts'
import { extractAll, extractedFactId, FACT_RULES, threadIdOf } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { holdThread, insertFacts, listMessages, loadThread, type NewFact } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/** Messages that are read at once. */
const MESSAGES_PER_BATCH_MAX = 100

/**
 * Reads facts from the messages of a thread by the rules and records them. A message that was read before by the same version
 * of the rules adds nothing, and neither does one whose facts were corrected or retracted.
 *
 * @throws PermanentError `NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function extractThreadFacts(
  { store, projectId }: EngineContext,
  name: string,
  options: FactExtraction = {},
): Promise<ExtractedFacts> {
  const { thread } = parse(threadParamsSchema, { thread: name }, 'thread')
  const { afterSeq, limit } = parse(factExtractionSchema, options, 'options')
  const threadId = threadIdOf(projectId, thread)
  const found = await store.inProject(projectId, (tx) => loadThread(tx, { threadId }))
  if (found === null) throw notFound('thread', thread, 'see `heddle threads list`')
  const { agentId, agentName: agent, headSeq, erasedCount } = found
  let [cursor, messages, facts, added] = [afterSeq, 0, 0, 0]
  while (messages < limit && cursor < headSeq) {
    const most = Math.min(MESSAGES_PER_BATCH_MAX, limit - messages)
    const page = await store.inProject(projectId, (tx) => listMessages(tx, { threadId, afterSeq: cursor, limit: most }))
    const toSeq = page.at(-1)?.seq
    if (toSeq === undefined) break
    const read = await runCooperatively(extractAll(page))
    const rows = read.flatMap(({ message, facts: drafts }) =>
      drafts.map(
        (draft): NewFact => ({
          ...draft,
          id: extractedFactId(threadId, message.id, { ...draft, extractor: FACT_RULES }),
          ...{ validFromMs: message.orderedAtMs, validToMs: null, sources: [message.id] },
        }),
      ),
    )
    added += await store.inProject(projectId, async (tx) => {
      // Messages that were erased meanwhile have no facts.
      if (!(await holdThread(tx, threadId, toSeq, erasedCount)))
        throw notFound('thread', thread, 'it was erased meanwhile')
      return await insertFacts(tx, { agentId, threadId, extractor: FACT_RULES, origin: 'extracted', facts: rows })
    })
    messages += page.length
    facts += rows.length
    cursor = toSeq
  }
  const nextSeq = cursor < headSeq && messages > 0 ? cursor : null
  return { thread, agent, extractor: FACT_RULES, messages, facts, added, nextSeq }
}
