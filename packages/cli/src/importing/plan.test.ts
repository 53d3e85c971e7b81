import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planImport } from './held-plan.js'

const line = (text: string) => JSON.stringify({ role: 'user', content: text })

async function withFiles(
  files: Record<string, string | Uint8Array>,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-plan-'))
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const options = { project: 'default', format: 'heddle' } as const

test('a thread is named after its file, and its messages get the same ids each time', async () => {
  await withFiles({ 'a.b.jsonl': `${line('one')}\n${line('two')}\n` }, async (cwd) => {
    const first = await planImport(['a.b.jsonl'], { ...options, cwd })
    const again = await planImport([join(cwd, 'a.b.jsonl')], { ...options, cwd: '/' })
    expect(first.map(({ thread }) => thread)).toEqual(['a.b'])
    expect(first[0]?.messages.map(({ content }) => content)).toEqual(['one', 'two'])
    expect(again[0]?.messages).toEqual(first[0]?.messages)
    const elsewhere = await planImport(['a.b.jsonl'], { ...options, cwd, project: 'other' })
    expect(elsewhere[0]?.messages[0]?.id).not.toBe(first[0]?.messages[0]?.id)
  })
})

test('one invalid file prevents sending of all, with an error that has the file and a hint', async () => {
  await withFiles({ 'good.jsonl': line('one'), 'broken.jsonl': `${line('one')}\n{"role":\n` }, async (cwd) => {
    await expect(planImport(['good.jsonl', 'broken.jsonl'], { ...options, cwd })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('broken.jsonl'),
      field: 'line 2',
      hint: expect.stringContaining('Nothing was stored'),
    })
  })
})

test('with onUnreadable an invalid file is reported and does not stop the others', async () => {
  await withFiles({ 'good.jsonl': line('one'), 'broken.jsonl': `${line('one')}\n{"role":\n` }, async (cwd) => {
    const told: string[] = []
    const files = ['broken.jsonl', 'absent.jsonl', 'good.jsonl']
    const planned = await planImport(files, { ...options, cwd, onUnreadable: (file) => void told.push(file) })
    expect(planned.map(({ thread }) => thread)).toEqual(['good'])
    expect(told).toEqual(['broken.jsonl', 'absent.jsonl'])
  })
})

test('files that cannot be read have different errors', async () => {
  await withFiles({ 'empty.jsonl': '', 'binary.jsonl': new Uint8Array([0xff, 0xfe, 0x00, 0xd8]) }, async (cwd) => {
    const plan = (file: string) => planImport([file], { ...options, cwd })
    await expect(plan('absent.jsonl')).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'file' })
    await expect(plan('.')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      hint: expect.stringContaining('*.jsonl'),
    })
    await expect(plan('empty.jsonl')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(plan('binary.jsonl')).rejects.toMatchObject({ message: expect.stringContaining('UTF-8') })
  })
})

test.skipIf(process.platform === 'win32')('a pipe or a device is refused at once, unopened', async () => {
  await withFiles({}, async (cwd) => {
    execFileSync('mkfifo', [join(cwd, 'pipe.jsonl')])
    for (const file of ['pipe.jsonl', '/dev/zero']) {
      await expect(planImport([file], { ...options, cwd })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        field: 'file',
        message: expect.stringContaining('regular file'),
        hint: expect.stringContaining('/dev/stdin'),
      })
    }
  })
})

test('two files that would become one thread are refused', async () => {
  await withFiles({ 'a.jsonl': line('one'), 'a.json': `[${line('two')}]` }, async (cwd) => {
    const plan = planImport(['a.jsonl', 'a.json'], { project: 'default', format: 'auto', cwd })
    await expect(plan).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    const named = planImport(['a.jsonl', 'a.json'], { ...options, cwd, thread: 't' })
    await expect(named).rejects.toMatchObject({ field: 'thread' })
  })
})
