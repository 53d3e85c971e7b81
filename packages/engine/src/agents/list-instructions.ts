import type { Page, StandingInstruction } from '@heddle/client/interface'
import { agentParamsSchema, limits, parse } from '@heddle/contracts'
import { lastingInstructions, messageReference } from '@heddle/core'
import { listPins, loadInstructionPlaces, loadMessagePage, loadThreadWindows } from '@heddle/store'
import { loadAgentOr } from '../items/items.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/** Characters of a message in which instructions are looked for, and of those that are shown. */
const READ_CHARACTERS_MAX = 8_000
const TEXT_CHARACTERS_MAX = 1_000

/**
 * The messages of people that ask for something to hold from then on, in all threads of an agent.
 *
 * @throws PermanentError `NOT_FOUND` for an unknown agent
 */
export async function listInstructions(
  { store, projectId }: EngineContext,
  name: string,
): Promise<Page<StandingInstruction>> {
  const { agent } = parse(agentParamsSchema, { agent: name }, 'agent')
  return await store.inProject(
    projectId,
    async (tx) => {
      const { agentId } = await loadAgentOr(tx, agent)
      const places = (await loadInstructionPlaces(tx, { agentId, threadIds: null })).map((place) => ({
        ...place,
        bytes: 0,
      }))
      const { messages } = await loadMessagePage(tx, places, limits.pageItemsMax)
      const threadIds = [...new Set(messages.map(({ place }) => place.threadId))]
      const [threads, pins] = await Promise.all([
        loadThreadWindows(tx, new Set(threadIds)),
        Promise.all(
          threadIds.map(async (threadId) => (await listPins(tx, threadId)).map(({ messageId }) => messageId)),
        ),
      ])
      const pinned = new Set(pins.flat())
      const items = messages.flatMap(({ place, message }) => {
        const thread = threads.get(place.threadId)
        const text = lastingInstructions(message.content.slice(0, READ_CHARACTERS_MAX))
          .join('\n')
          .slice(0, TEXT_CHARACTERS_MAX)
        if (thread === undefined || message.role !== 'user' || text === '') return []
        const reference = messageReference(message.code)
        const at = isoTime(message.orderedAtMs)
        return [
          {
            thread: thread.name,
            messageId: message.id,
            reference,
            at,
            text: text.toWellFormed(),
            pinned: pinned.has(message.id),
          },
        ]
      })
      return { items, nextCursor: null }
    },
    { snapshot: true },
  )
}
