import { newId } from '@heddle/client/calls'
import { expect, test } from 'vitest'
import { pipelineOfTests } from '../support.js'

const tests = pipelineOfTests()
const START_MS = Date.parse('2026-02-12T14:30:00Z')

/** Parts of one session whose clock went back an hour between them. */
function partsOf(times: (number | null)[][]) {
  let index = 0
  return times.map((part) =>
    part.map((minute) => ({
      id: newId(),
      role: 'user' as const,
      content: `message ${index++}`,
      ...(minute !== null && { sentAt: new Date(START_MS + minute * 60_000).toISOString() }),
    })),
  )
}

test('parts of a continued append keep the order of their session, whatever their times and repeats', async () => {
  await tests.start()
  const { client } = tests.pipeline
  const parts = partsOf([
    [60, 61, 61],
    [1, 2, null],
    [61, 0, null],
  ])
  const send = async (index: number) =>
    await client.messages.append({
      agent: 'coder',
      thread: 'continued',
      messages: parts[index] ?? [],
      newAgentRollingWindow: null,
      continues: index > 0,
    })
  for (const index of parts.keys()) expect(await send(index)).toMatchObject({ stored: 3, repeated: 0 })
  for (const index of [2, 0, 1]) expect(await send(index)).toMatchObject({ stored: 0, repeated: 3 })

  // A context shows the conversation in its order; the history shows the order of arrival.
  const { messages } = await client.contexts.build({ thread: 'continued', format: 'openai-chat' })
  const shown = [...JSON.stringify(messages).matchAll(/message (\d)/g)].map(([, index]) => Number(index))
  expect(shown).toEqual([...parts.flat().keys()])
})
