import type { DeadLetterDetails, DeadLetterEntry, DeadLetterSelection, RedriveResult } from '@heddle/client/interface'
import { idSchema, notFound, PermanentError, parse, stageNames, stages, validationError } from '@heddle/contracts'
import { NIL_ID } from '@heddle/core'
import { type DeadLetter, listDeadLetters, loadDeadLetterPayload, markRedriven } from '@heddle/store'
import { z } from 'zod'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

const selectionSchema = z.object({
  stage: z.enum(stageNames, { error: `must be one of ${stageNames.join(', ')}` }).optional(),
  id: idSchema.optional(),
  limit: z.int().min(1).max(1_000_000).default(100),
  ownOnly: z.boolean().default(false),
})

/** The dead letters of the project, newest first, and without `ownOnly` also those without a project. */
export async function listAllDeadLetters(
  parts: EngineContext,
  selection: DeadLetterSelection,
): Promise<DeadLetterEntry[]> {
  return (await readDeadLetters(parts, selection)).map(toEntry)
}

async function readDeadLetters(
  { store, projectId: own }: EngineContext,
  selection: DeadLetterSelection,
): Promise<DeadLetter[]> {
  const { stage, id, limit, ownOnly } = parse(selectionSchema, selection, 'dead letters')
  const read = (projectId: string) => store.inProject(projectId, (tx) => listDeadLetters(tx, { limit, stage, id }))
  const [owns, nobodys] = await Promise.all([read(own), ownOnly ? [] : read(NIL_ID)])
  return [...owns, ...nobodys].sort((left, right) => right.failedAtMs - left.failedAtMs).slice(0, limit)
}

/** Most of a payload that is shown: enough to recognize the job. */
const PAYLOAD_CHARACTERS_MAX = 20_000

/** @throws PermanentError `NOT_FOUND` for an unknown id, or one of another project */
export async function getDeadLetter({ store, projectId }: EngineContext, id: string): Promise<DeadLetterDetails> {
  const letterId = parse(idSchema, id, 'letter')
  return await store.inProject(projectId, async (tx) => {
    const [letter] = await listDeadLetters(tx, { id: letterId, limit: 1, withRedriven: true })
    if (letter === undefined) throw notFound('dead letter', letterId, 'list the dead letters of the project')
    const payload = JSON.stringify(await loadDeadLetterPayload(tx, letter)) ?? 'null'
    return {
      ...toEntry(letter),
      payload: payload.slice(0, PAYLOAD_CHARACTERS_MAX),
      payloadCharacters: payload.length,
    }
  })
}

/**
 * Adds the jobs of dead letters to their queues again, oldest first. A malformed one stays; one that fails again becomes a new
 * dead letter, in place of the redriven one.
 *
 * @throws RetryableError if the queue or the store went down; the letters that were redriven until then are marked
 */
export async function redrive(parts: EngineContext, selection: DeadLetterSelection): Promise<RedriveResult> {
  const refused: RedriveResult['refused'][number][] = []
  let redriven = 0
  for (const letter of (await readDeadLetters(parts, selection)).reverse()) {
    try {
      await enqueueAgain(parts, letter)
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error
      refused.push({ jobId: letter.jobId, reason: error.message })
      continue
    }
    // Marked after it was enqueued: a repeated job is harmless, a marked letter without a job would be lost.
    await parts.store.inProject(letter.projectId, (tx) => markRedriven(tx, { id: letter.id }))
    redriven++
  }
  return { redriven, refused }
}

async function enqueueAgain({ store, queues }: EngineContext, letter: DeadLetter): Promise<void> {
  const stage = stageNames.find((name) => name === letter.stage)
  if (stage === undefined) throw validationError('stage', `must be one of ${stageNames.join(', ')}`, letter.stage)
  const payload = await store.inProject(letter.projectId, (tx) => loadDeadLetterPayload(tx, letter))
  const subject = `${stage} job`
  switch (stage) {
    case 'ingest':
      return queues.add(stage, parse(stages.ingest.schema, payload, subject))
    case 'assemble':
      throw new PermanentError('CONFLICT', 'its requester already got the error; request the context again')
    default:
      await queues.rewake([{ stage, ...parse(stages[stage].schema, payload, subject) }])
  }
}

function toEntry({ id, stage, jobId, threadId, error, attempts, failedAtMs }: DeadLetter): DeadLetterEntry {
  return { id, stage, jobId, threadId, error, attempts, failedAt: isoTime(failedAtMs) }
}
