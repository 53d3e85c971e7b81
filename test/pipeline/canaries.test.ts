import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { findWords, searchFiles } from './canaries.js'

const document = JSON.stringify({ messages: [{ content: 'a canary sings' }] })
const escaped = [...'canary'].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

test.each([
  ['a text', 'a canary sings'],
  ['JSON', document],
  ['JSON in JSON', JSON.stringify(document)],
  ['a JSON escape', `"${escaped}"`],
  ['an escape in a text that is no JSON', `it says ${escaped}`],
  ['bytes', Buffer.from(document)],
  ['hexadecimal digits', `\\x${Buffer.from(document).toString('hex')}`],
  ['brotli', brotliCompressSync(document)],
  ['deflate', deflateSync(document)],
  ['gzip', gzipSync(document)],
  ['deflate of JSON in JSON', deflateSync(JSON.stringify({ inner: document }))],
  ['a key of an object', { canary: 1 }],
  ['an array of objects', [{ deep: [deflateSync(document)] }]],
])('a canary word is found in %s', (_name, value) => {
  expect(findWords(value, ['canary', 'crow'])).toEqual(new Set(['canary']))
})

test('a canary word is found in files of a folder, and in their names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-canaries-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'packed'), gzipSync(document))
  await writeFile(join(folder, 'crow.json'), '{}')
  expect([...(await searchFiles(folder, ['canary', 'crow', 'owl'])).keys()].sort()).toEqual(['canary', 'crow'])
})
