import {
  type ExtractedFacts,
  type FactExtraction,
  factExtractionSchema,
  notFound,
  parse,
  threadParamsSchema,
} from '@heddle/contracts'
import { extractAll, FACT_RULES, threadIdOf } from '@heddle/core'
import { runCooperatively } from '@heddle/runtime'
import { extractBatch, loadThread } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

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
  const { agentName: agent, headSeq } = found
  const fromSeq = Math.max(afterSeq, found.baseSeq)
  const endSeq = Math.min(headSeq, fromSeq + limit)
  let [cursor, facts, added] = [fromSeq, 0, 0]
  while (cursor < endSeq) {
    const batch = await extractBatch(store, {
      ...{ projectId, thread: found, afterSeq: cursor, toSeq: endSeq, extractor: FACT_RULES, isStage: false },
      extract: (messages) => runCooperatively(extractAll(threadId, messages)),
    })
    if (batch === null) throw notFound('thread', thread, 'it was erased meanwhile')
    facts += batch.facts
    added += batch.added
    cursor = batch.toSeq
  }
  const messages = Math.max(0, cursor - fromSeq)
  const nextSeq = cursor < headSeq && messages > 0 ? cursor : null
  return { thread, agent, extractor: FACT_RULES, messages, facts, added, nextSeq }
}
