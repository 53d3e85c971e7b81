import type { BuildRequest, Client } from '@heddle/client/interface'
import type { MessageInput, PartialSettings } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { chances, wholeNumber } from '../../support/src/samples/chances.js'
import { pipelineOfTests } from '../support.js'

const { start, ...opened } = withPipeline()

function withPipeline() {
  const of = pipelineOfTests()
  return { start: of.start, client: () => of.pipeline.client }
}

const STRATEGIES = ['sandwich', 'sliding-window', 'tree'] as const
const TURNS = 14

/** Turns of a session: requests, calls with long results, and replies, a second apart. */
function turns(chance: () => number, count: number, startMs: number): MessageInput[] {
  const words = (most: number) =>
    Array.from({ length: wholeNumber(chance, 5, most) }, () => `w${wholeNumber(chance, 0, 900)}`).join(' ')
  const messages: MessageInput[] = []
  for (let turn = 0; turn < count; turn++) {
    messages.push({ id: id(chance), role: 'user', content: `request ${turn}: ${words(30)}` })
    for (let call = 0; call < wholeNumber(chance, 0, 2); call++) {
      const callId = `call-${messages.length}-${wholeNumber(chance, 0, 1_000_000)}`
      const path = `src/file-${wholeNumber(chance, 0, 6)}.ts`
      messages.push({
        id: id(chance),
        role: 'tool_use',
        content: '',
        toolCalls: [{ id: callId, name: 'Read', arguments: { file_path: path } }],
      })
      messages.push({ id: id(chance), role: 'tool_result', toolCallId: callId, toolName: 'Read', content: words(600) })
    }
    messages.push({ id: id(chance), role: 'assistant', content: words(120) })
  }
  return messages.map((message, index) => ({ ...message, sentAt: new Date(startMs + index * 1_000).toISOString() }))
}

function id(chance: () => number): string {
  const hex = Array.from({ length: 32 }, () => wholeNumber(chance, 0, 15).toString(16)).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}

/** The messages that a model is sent, without the names by which the two threads differ. */
async function shownBy(client: Client, request: BuildRequest) {
  const { messages, tokensUsed, summaryUsed } = await client.contexts.build(request)
  return { messages, tokensUsed, summaryUsed }
}

describe('a fork of a settled thread', () => {
  test.each(STRATEGIES.flatMap((strategy) => [1, 2, 3].map((seed) => ({ strategy, seed }))))(
    'has the contexts of a copy with $strategy, messages $seed',
    async ({ strategy, seed }) => {
      await start()
      const client = opened.client()
      const chance = chances(seed * 101)
      const agent = `weaver ${strategy} ${seed}`
      const settings: PartialSettings = { rollingWindow: null, strategy, budget: 3_000 }
      await client.agents.put(agent, { settings })
      const append = async (thread: string, messages: readonly MessageInput[]) => {
        await client.messages.append({ agent, thread, messages: [...messages] })
        await client.threads.waitUntilSettled(thread)
      }
      const startMs = Date.parse('2026-03-01T09:00:00Z')
      const shared = turns(chance, TURNS, startMs)
      const [origin, fork, copy, twig, copyOfTwig] = ['origin', 'fork', 'copy', 'twig', 'copy of the twig'].map(
        (name) => `${name} ${strategy} ${seed}`,
      ) as [string, string, string, string, string]
      for (let from = 0; from < shared.length; from += 10) await append(origin, shared.slice(from, from + 10))

      // At a random message, or at the head.
      const at = seed === 1 ? shared.length : wholeNumber(chance, 8, shared.length - 1)
      const forked = await client.threads.fork(origin, { at, name: fork })
      expect(forked).toMatchObject({ thread: fork, isNew: true, forkedFrom: { thread: origin, seq: at } })
      await client.threads.waitUntilSettled(fork)
      await append(copy, shared.slice(0, at))
      const requests = (thread: string): BuildRequest[] => [
        { thread, message: 'go on' },
        { thread, message: 'go on', budget: 1_500 },
        { thread, message: 'go on', format: 'anthropic', budget: 6_000 },
      ]
      const areEqual = async (one: string, other: string) => {
        const [left, right] = [requests(one), requests(other)]
        // The first request in a lane records it; its compactions follow.
        for (const request of [...left, ...right]) await client.contexts.build(request)
        for (const thread of [one, other]) await client.threads.waitUntilSettled(thread)
        for (const [index, request] of left.entries()) {
          expect(await shownBy(client, request)).toEqual(await shownBy(client, right[index] as BuildRequest))
        }
      }
      await areEqual(fork, copy)

      // Each has a future of its own, and a fork of the fork shares with both.
      const later = turns(chance, 4, startMs + 3_600_000)
      await append(origin, turns(chance, 2, startMs + 7_200_000))
      await append(fork, later)
      await append(copy, later)
      await areEqual(fork, copy)
      const middle = at + wholeNumber(chance, 1, later.length)
      await client.threads.fork(fork, { at: middle, name: twig })
      await client.threads.waitUntilSettled(twig)
      await append(copyOfTwig, [...shared.slice(0, at), ...later.slice(0, middle - at)])
      await areEqual(twig, copyOfTwig)
      expect(await client.threads.compare(twig, origin)).toMatchObject({ common: { messages: at } })
    },
    60_000,
  )
})
