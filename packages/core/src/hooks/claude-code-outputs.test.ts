import { expect, test } from 'vitest'
import { isReadAgain, replaceableOutput } from './claude-code-outputs.js'
import { outputStub } from './output-stub.js'

const shell = (more: object = {}) => ({ stdout: 'out', stderr: '', interrupted: false, isImage: false, ...more })

test('a text is replaced in the shape that its tool has', () => {
  expect(replaceableOutput('Bash', shell({ stderr: 'bad' }))?.text).toBe('out\nbad')
  expect(replaceableOutput('Bash', shell({ persistedOutputPath: '/tmp/1' }))?.replace('short')).toEqual(
    shell({ stdout: 'short' }),
  )
  const file = { filePath: '/a', content: 'one\ntwo', numLines: 2, startLine: 1, totalLines: 2 }
  expect(replaceableOutput('Read', { type: 'text', file })?.replace('one')).toEqual({
    type: 'text',
    file: { ...file, content: 'one', numLines: 1 },
  })
  const grep = { mode: 'content', numFiles: 0, filenames: [], content: 'a' }
  expect(replaceableOutput('Grep', grep)?.replace('b')).toEqual({ ...grep, content: 'b' })
  expect(replaceableOutput('mcp__github__issue', 'text')?.replace('b')).toBe('b')
  const blocks = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ]
  expect(replaceableOutput('mcp__github__issue', blocks)?.text).toBe('a\nb')
  expect(replaceableOutput('mcp__x__y', { content: blocks, structuredContent: {} })?.replace('c')).toEqual({
    content: [{ type: 'text', text: 'c' }],
  })
})

test('outputs of other shapes, images, edits and recalled texts stay as they are', () => {
  for (const [tool, response] of [
    ['Bash', 'a text'],
    ['Bash', shell({ isImage: true })],
    ['Read', { type: 'image', file: { base64: '' } }],
    ['Grep', { mode: 'files_with_matches', numFiles: 1, filenames: ['a'] }],
    ['Edit', { filePath: '/a', originalFile: 'long' }],
    ['Agent', { status: 'completed', content: [] }],
    ['mcp__github__issue', [{ type: 'image', data: '' }]],
    ['mcp__heddle__recall', 'recalled'],
    ['mcp__plugin_heddle_heddle__recall', 'recalled'],
    ['Bash', null],
  ] as const) {
    expect(replaceableOutput(tool, response)).toBeNull()
  }
  expect(isReadAgain({ tool_name: 'Read', tool_input: { file_path: '/a', offset: 10 } })).toBe(true)
  expect(isReadAgain({ tool_name: 'Read', tool_input: { file_path: '/a' } })).toBe(false)
})

test('a stub of numbered lines has only the beginning, whose numbers stay right', () => {
  const lines = Array.from({ length: 500 }, (_, index) => `line ${index + 1} of the file`)
  const options = { reference: 'msg-abcd1234', tokensBefore: 3_000, tokensMax: 100 }
  const text = lines.join('\n')
  const numbered = outputStub({ text, isNumbered: true }, options).split('\n')
  const note = numbered.pop() ?? ''
  expect(numbered).toEqual(lines.slice(0, numbered.length))
  expect(note).toContain(`the last ${500 - numbered.length} of 500 lines left out by Heddle, 3000 tokens in all`)
  expect(note).toContain('[recall:msg-abcd1234]')
  expect(outputStub({ text, isNumbered: false }, options)).toMatch(/line 500 of the file$/)
})
