import { expect, test } from 'vitest'
import { commandWords } from './command-words.js'

test.for([
  { text: 'npx -y  server stdio', words: ['npx', '-y', 'server', 'stdio'] },
  { text: ` "/a b/run" 'c "d"' e\\ f `, words: ['/a b/run', 'c "d"', 'e f'] },
  { text: `--name="a \\"b\\"" ''`, words: ['--name=a "b"', ''] },
  { text: '$HOME/* `id` ; ls', words: ['$HOME/*', '`id`', ';', 'ls'] },
  { text: '  ', words: [] },
  { text: `a 'b`, words: null },
  { text: 'a "b', words: null },
  { text: 'a\\', words: null },
])('the words of %j', ({ text, words }) => {
  expect(commandWords(text)).toEqual(words)
})
