import { expect, test } from 'vitest'
import { render } from './index.js'
import type { NeutralMessage } from './neutral-message.js'

const say = (role: 'system' | 'user' | 'assistant', content: string): NeutralMessage => ({ role, content })

function marked(messages: readonly NeutralMessage[], stableEnds: readonly number[]): string[] {
  const { system, messages: turns } = render('anthropic', messages, { stableEnds })
  const blocks = [...(Array.isArray(system) ? system : []), ...turns.flatMap(({ content }) => content as never[])]
  return blocks
    .filter((block: { cache_control?: unknown }) => block.cache_control !== undefined)
    .map((block: { text?: string; content?: string; name?: string }) => block.text ?? block.content ?? block.name ?? '')
}

test('cache marks cover the system prompt, the parts that seldom change, and the history, but not the parts that change each time', () => {
  const messages = [
    say('system', 'prompt'),
    say('user', 'doc'),
    say('user', 'hi'),
    say('assistant', 'hello'),
    say('user', 'status'),
  ]
  expect(marked(messages, [2, 4])).toEqual(['prompt', 'doc', 'hello'])
})

test('without a stable part there are no marks', () => {
  expect(marked([say('system', 'prompt'), say('user', 'hi')], [])).toEqual([])
})

test('a long history has one more mark within look-back range of the last', () => {
  const history = Array.from({ length: 60 }, (_, at) => say(at % 2 === 0 ? 'user' : 'assistant', `m${at}`))
  expect(marked([say('system', 'prompt'), ...history], [1, 61])).toEqual(['prompt', 'm40', 'm59'])
})

test('there are at most four', () => {
  const history = Array.from({ length: 60 }, (_, at) => say(at % 2 === 0 ? 'user' : 'assistant', `m${at}`))
  expect(marked([say('system', 'prompt'), ...history], [5, 10, 20, 61])).toHaveLength(4)
})
