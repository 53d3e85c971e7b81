import type { AgentInputItem } from '@openai/agents-core'
import { expect, test } from 'vitest'
import { assembledItems, type Shown, type Stored } from './assembled.js'
import { draftsOf } from './items.js'
import { newestWithin } from './within.js'

const call = (id: string): AgentInputItem => ({
  type: 'function_call',
  callId: id,
  name: 'look',
  arguments: '{"at":1}',
})
const result = (id: string, output = 'seen'): AgentInputItem => ({
  type: 'function_call_result',
  callId: id,
  name: 'look',
  status: 'completed',
  output,
})
const reasoning: AgentInputItem = { type: 'reasoning', id: 'r', content: [] }
const shell: AgentInputItem = { type: 'shell_call', callId: 's', action: { commands: ['ls'] } }
const shellResult: AgentInputItem = {
  type: 'shell_call_output',
  callId: 's',
  output: [{ stdout: 'a.ts', stderr: '', outcome: { type: 'exit', exitCode: 0 } }],
}

const storedOf = (items: readonly AgentInputItem[]): Stored[] =>
  draftsOf(items).map(({ draft, items }, index) => ({
    id: `${index}`,
    role: draft.role,
    content: draft.content,
    items,
  }))
const shownOf = (items: readonly AgentInputItem[]): Shown[] => draftsOf(items).map(({ draft }) => draft as Shown)

test('items of one reply are one message, and reasoning begins another', () => {
  const drafts = draftsOf([
    reasoning,
    call('a'),
    call('b'),
    result('a'),
    result('b'),
    reasoning,
    call('c'),
    reasoning,
    call('d'),
  ])
  expect(drafts.map(({ items }) => items.length)).toEqual([3, 1, 1, 2, 2])
})

test('messages that are shown verbatim are given as they were, in the order of the context', () => {
  const items = [
    reasoning,
    call('a'),
    call('b'),
    result('b'),
    result('a'),
    { role: 'user', content: 'Go on.' } as const,
  ]
  const known = storedOf(items)
  expect(assembledItems(shownOf(items), { verbatim: known, known })).toEqual(items)
})

test('a condensed result keeps its call, and a condensed call its result, without the reasoning', () => {
  const items = [reasoning, call('a'), result('a', 'long')]
  const known = storedOf(items)
  const [first, second] = shownOf(items) as [Shown, Shown]
  const short = { ...second, content: 'short' }
  const [verbatim] = known
  expect(assembledItems([first, short], { verbatim: verbatim === undefined ? [] : [verbatim], known })).toEqual([
    reasoning,
    call('a'),
    result('a', 'short'),
  ])
  const elided = { ...first, toolCalls: [{ id: 'a', name: 'look', arguments: '{"elided":"x"}' }] }
  expect(assembledItems([elided, second], { verbatim: known.slice(1), known })).toEqual([
    { ...call('a'), status: 'completed', arguments: '{"elided":"x"}' },
    result('a', 'long'),
  ])
})

test('a call that only its provider understands is text where one half of it is condensed', () => {
  const items = [shell, shellResult]
  const known = storedOf(items)
  const [first, second] = shownOf(items) as [Shown, Shown]
  expect(assembledItems([first, second], { verbatim: known, known })).toEqual(items)
  expect(assembledItems([first, { ...second, content: 'short' }], { verbatim: known.slice(0, 1), known })).toEqual([
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: '[shell_call] {"action":{"commands":["ls"]}}' }],
    },
    { type: 'message', role: 'user', content: '[shell_call_output] short' },
  ])
})

test('a placeholder for the result of an open call is left out', () => {
  const known = storedOf([call('open')])
  const placeholder = { role: 'tool_result', content: '[no result]', toolCallId: 'open' }
  expect(assembledItems([...shownOf([call('open')]), placeholder], { verbatim: known, known })).toEqual([call('open')])
})

test('the newest turns within a budget begin with a message of the user', () => {
  const turn = (name: string): AgentInputItem[] => [
    { role: 'user', content: name },
    call(name),
    result(name, 'x'.repeat(400)),
  ]
  const items = [...turn('a'), ...turn('b'), ...turn('c')]
  expect(newestWithin(items, 10_000)).toEqual(items)
  expect(newestWithin(items, 350)).toEqual(items.slice(3))
  expect(newestWithin(items, 10)).toEqual(items.slice(6))
})
