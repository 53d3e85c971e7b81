import { describe, expect, test } from 'vitest'
import type { ShownItem } from './shown-item.js'
import { type SpokenMessage, usedItems } from './used-items.js'

const rule = (name: string, text: string): ShownItem => ({ itemId: name, type: 'rule', name, serverName: '', text })
const tool = (name: string, serverName = 'files'): ShownItem => ({
  itemId: `${serverName}.${name}`,
  type: 'tool',
  name,
  serverName,
  text: '',
})
const said = (content: string, ...calls: string[]): SpokenMessage => ({
  role: 'assistant',
  content,
  toolCalls: calls.map((name, index) => ({ id: `c${index}`, name, arguments: {} })),
})
const used = (items: readonly ShownItem[], message: SpokenMessage, ...asked: string[]) =>
  usedItems({ contextId: 'c', items, asked }, message)

describe('a tool', () => {
  test('is used if it is called by its name, or by its server and its name', () => {
    const tools = [tool('read_file'), tool('write_file')]
    expect(used(tools, said('', 'read_file'))).toEqual(['files.read_file'])
    expect(used(tools, said('', 'files__read_file', 'write_file'))).toEqual(['files.read_file', 'files.write_file'])
  })

  test('that shares its name with one of another server is recognized only with its server', () => {
    const tools = [tool('read'), tool('read', 'web')]
    expect(used(tools, said('', 'web__read'))).toEqual(['web.read'])
    expect(used(tools, said('', 'read'))).toEqual([])
  })

  test('is not used if it is only mentioned, or if the user calls its name', () => {
    expect(used([tool('read_file')], said('I could call read_file.'))).toEqual([])
    expect(used([tool('read_file')], { ...said('', 'read_file'), role: 'user' })).toEqual([])
  })
})

describe('a rule or a reference', () => {
  const tokens = rule('login', 'Send the bearer token in the Authorization header.')
  const codes = rule('error-codes', 'Each failure has a stable code such as NOT_FOUND.')

  test('is used if a reply has a third of its distinctive words', () => {
    expect(used([tokens, codes], said('Put the bearer token there.'))).toEqual(['login'])
    expect(used([tokens, codes], said('Put it there.'))).toEqual([])
  })

  test('is not used through words of the request, words of other items, or function words', () => {
    expect(used([tokens], said('A bearer token, then.'), 'Do I send a bearer token?')).toEqual([])
    const twin = rule('twin', 'The bearer token is a secret.')
    expect(used([tokens, twin], said('A bearer token, then.'))).toEqual([])
    expect(used([rule('empty', 'It is what it is, and so on.')], said('It is what it is, and so on.'))).toEqual([])
  })

  test('with many words is used if twenty of them occur', () => {
    const letter = (place: number) => String.fromCharCode(97 + Math.floor(place))
    const words = Array.from({ length: 400 }, (_, index) => `zq${letter(index / 20)}${letter(index % 20)}um`)
    const long = rule('handbook', words.join(' '))
    expect(used([long], said(words.slice(0, 19).join(', ')))).toEqual([])
    expect(used([long], said(words.slice(0, 20).join(', ')))).toEqual(['handbook'])
  })

  test.each([
    ['error-codes', 'As the error codes say.', true],
    ['error-codes', 'As ERROR_CODES says.', true],
    ['error-codes', 'As my terror codes say.', false],
    ['v2', 'In v2 it is gone.', true],
    ['v2', 'In v21 it is gone.', false],
    ['style', 'It has style.', false],
    ['style', 'The style rule asks for it.', true],
    ['style', 'Rule "style" asks for it.', true],
    ['style', 'By `style`.', true],
    ['---', 'A line --- here.', false],
  ])('named %j is named by %j: %s', (name, text, isNamed) => {
    expect(used([rule(name, '')], said(text))).toEqual(isNamed ? [name] : [])
  })
})
