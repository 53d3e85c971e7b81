import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSession } from '@heddle/sessions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readWholeFile } from './read-file.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-read-file-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function read(bytes: Uint8Array): Promise<string> {
  const path = join(folder, 'session.jsonl')
  await writeFile(path, bytes)
  return await readWholeFile(path)
}

const line = (content: string) => `${JSON.stringify({ role: 'user', content })}\n`

test('a file that is being written is read up to its last complete line, even if it ends within a character', async () => {
  const bytes = Buffer.from(line('first') + line('second 😀'))
  const emojiAt = bytes.indexOf(0xf0)
  for (const size of [emojiAt, emojiAt + 1, emojiAt + 2, emojiAt + 3, emojiAt + 4]) {
    const { threads, skipped } = parseSession(await read(bytes.subarray(0, size)), {
      fileName: 'session.jsonl',
      format: 'heddle',
    })
    expect(threads[0]?.messages.map(({ input }) => input.content)).toEqual(['first'])
    expect(skipped).toEqual({ 'unfinished last line': 1 })
  }
})

test('invalid UTF-8 bytes are refused anywhere in the file', async () => {
  for (const text of ['first\xff', 'fi\xe2rst']) {
    await expect(read(Buffer.from(text, 'latin1'))).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'file' })
  }
})
