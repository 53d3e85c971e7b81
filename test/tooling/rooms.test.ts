import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** More than this nobody reads as one list of names. */
const FILES_MAX = 25

test('no folder of code holds more than 25 files, tests beside them not counted', async () => {
  const { stdout } = await promisify(execFile)('git', ['ls-files', 'packages', 'services', 'test'], { cwd: root })
  expect(crowded(stdout.trim().split('\n'))).toEqual([])
})

test('a folder with a file too many is named', () => {
  const files = Array.from({ length: FILES_MAX + 1 }, (_, index) => `packages/core/src/room/file-${index}.ts`)
  expect(crowded(files)).toEqual(['packages/core/src/room: 26'])
  expect(crowded(files.slice(1))).toEqual([])
  expect(crowded([...files.slice(1), 'packages/core/src/room/file.test.ts'])).toEqual([])
})

function crowded(paths: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) {
    // Migrations are numbered and stay as they are; a test stands beside what it is of.
    const isBeside = path.endsWith('.test.ts') && !path.startsWith('test/')
    if (!/\.(ts|mjs)$/.test(path) || isBeside) continue
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > FILES_MAX).map(([folder, count]) => `${folder}: ${count}`)
}
