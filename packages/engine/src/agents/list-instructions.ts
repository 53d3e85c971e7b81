import type { Page, StandingInstruction } from '@heddle/client/interface'
import { agentParamsSchema, parse } from '@heddle/contracts'
import { type Instruction, messageReference, speakerOf, standingInstructions } from '@heddle/core'
import { listPins, loadInstructionPlaces, loadMessagePage, loadThreadWindows } from '@heddle/store'
import { loadAgentOr } from '../items/items.js'
import { isoTime } from '../setup/iso-time.js'
import type { EngineContext } from '../setup/options.js'

/** Characters of a message in which instructions are looked for, and of those that are shown. */
const READ_CHARACTERS_MAX = 8_000
const TEXT_CHARACTERS_MAX = 1_000

/**
 * The messages of people that ask for something to hold from then on, in all threads of an agent, each with what ended it.
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
      const found = await loadInstructionPlaces(tx, { agentId, threadIds: null, endings: true })
      const places = found.map((place, order) => ({ ...place, order, bytes: 0 }))
      const { messages } = await loadMessagePage(tx, places, places.length)
      const threadIds = [...new Set(messages.map(({ place }) => place.threadId))]
      const [threads, pins] = await Promise.all([
        loadThreadWindows(tx, new Set(threadIds)),
        Promise.all(
          threadIds.map(async (threadId) => (await listPins(tx, threadId)).map(({ messageId }) => messageId)),
        ),
      ])
      const pinned = new Set(pins.flat())
      const said = messages
        .flatMap(({ place, message }) => {
          const thread = threads.get(place.threadId)
          return thread === undefined || message.role !== 'user' ? [] : [{ place, message, thread: thread.name }]
        })
        .toSorted(
          (left, right) => left.message.orderedAtMs - right.message.orderedAtMs || left.place.seq - right.place.seq,
        )
      const instructions = standingInstructions(
        said.map(({ message, place }) => ({
          text: message.content.slice(0, READ_CHARACTERS_MAX),
          thread: place.threadId,
          user: speakerOf(message) || null,
        })),
      )
      const items = said.flatMap((one, index) => {
        const item = itemOf(
          one,
          instructions.filter(({ saidIn }) => saidIn === index),
        )
        return item === null ? [] : [{ order: one.place.order, item }]
      })
      items.sort((left, right) => left.order - right.order)
      return { items: items.map(({ item }) => item), nextCursor: null }

      function itemOf(
        { message, thread }: (typeof said)[number],
        own: readonly Instruction[],
      ): StandingInstruction | null {
        const holding = own.filter(({ endedIn }) => endedIn === null)
        const shown = holding.length > 0 ? holding : own
        const [first] = shown
        if (first === undefined) return null
        const text = shown
          .map(({ sentence }) => sentence)
          .join('\n')
          .slice(0, TEXT_CHARACTERS_MAX)
        const last = own.reduce((left, right) => ((right.endedIn ?? -1) > (left.endedIn ?? -1) ? right : left), first)
        return {
          thread,
          messageId: message.id,
          reference: messageReference(message.code),
          at: isoTime(message.orderedAtMs),
          text: text.toWellFormed(),
          pinned: pinned.has(message.id),
          scope: first.scope,
          user: speakerOf(message) || null,
          ended: holding.length > 0 ? null : endingOf(last),
        }
      }

      function endingOf({ endedIn, endedBy }: Instruction): StandingInstruction['ended'] {
        const by = endedIn === null ? undefined : said[endedIn]
        if (by === undefined) return null
        return {
          at: isoTime(by.message.orderedAtMs),
          thread: by.thread,
          messageId: by.message.id,
          reference: messageReference(by.message.code),
          text: (endedBy ?? '').slice(0, TEXT_CHARACTERS_MAX).toWellFormed(),
        }
      }
    },
    { snapshot: true },
  )
}
