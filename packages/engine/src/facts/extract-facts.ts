import {
  ConflictError,
  type ExtractedFacts,
  type FactExtraction,
  factExtractionSchema,
  mergeSettings,
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
 * @throws ConflictError if a model reads the thread, whose facts those of the rules would double
 */
export async function extractThreadFacts(
  { store, projectId, settings }: EngineContext,
  name: string,
  options: FactExtraction = {},
): Promise<ExtractedFacts> {
  const { thread } = parse(threadParamsSchema, { thread: name }, 'thread')
  const { afterSeq, limit } = parse(factExtractionSchema, options, 'options')
  const threadId = threadIdOf(projectId, thread)
  const found = await store.inProject(projectId, (tx) => loadThread(tx, { threadId }))
  if (found === null) throw notFound('thread', thread, 'see `heddle threads list`')
  const { agentName: agent, headSeq } = found
  if (mergeSettings(settings, found.agentSettings, found.settings).remember === 'model') {
    throw new ConflictError(`thread: a model reads the facts of thread "${thread}"`, {
      field: 'thread',
      received: thread,
      hint: 'set `remember` to `rules` or `off` to read facts by the rules, which would double those of the model',
    })
  }
  const fromSeq = Math.max(afterSeq, found.baseSeq, found.sharedSeq)
  const endSeq = Math.min(headSeq, fromSeq + limit)
  let [cursor, facts, added] = [fromSeq, 0, 0]
  while (cursor < endSeq) {
    const batch = await extractBatch(store, {
      ...{ projectId, thread: found, afterSeq: cursor, toSeq: endSeq, isStage: false },
      reader: {
        read: async (messages) => ({
          extractor: FACT_RULES,
          facts: await runCooperatively(extractAll(threadId, messages)),
        }),
      },
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
