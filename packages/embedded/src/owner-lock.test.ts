import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { acquireOwnership } from './owner-lock.js'
import { identifyProcess, isAlive, ownIdentity } from './process-identity.js'

const NOBODY = { pid: process.ppid, startedAt: 'long ago' }

describe('acquireOwnership', () => {
  it.each(['nothing', JSON.stringify(NOBODY), '{"released":true}', '{"pi', ''])(
    'succeeds for one of many concurrent processes, after %j',
    async (left) => {
      const dataDir = await folder()
      if (left !== 'nothing') await leave(dataDir, 41, left)
      const results = await Promise.all(Array.from({ length: 20 }, () => acquireOwnership(dataDir)))
      expect(results.filter((result) => 'lock' in result)).toHaveLength(1)
      expect(results.filter((result) => 'heldBy' in result && result.heldBy.pid === process.pid)).toHaveLength(19)
      expect(await readdir(join(dataDir, 'owner'))).toHaveLength(1)
    },
  )

  it('succeeds again after each release, for one process only', async () => {
    const dataDir = await folder()
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all(Array.from({ length: 3 }, () => acquireOwnership(dataDir)))
      const [winner, ...others] = results.flatMap((result) => ('lock' in result ? [result.lock] : []))
      expect(others).toEqual([])
      await winner?.release()
    }
  })

  it('fails for a slow process that creates a number below the current one', async () => {
    const dataDir = await folder()
    await leave(dataDir, 8, JSON.stringify(ownIdentity()))
    await leave(dataDir, 7, '{"released":true}')
    expect(await acquireOwnership(dataDir)).toEqual({ heldBy: ownIdentity() })
  })
})

describe('identifyProcess', () => {
  it('distinguishes a process from a later one with the same pid', () => {
    expect(isAlive(ownIdentity())).toBe(true)
    expect(isAlive({ ...ownIdentity(), startedAt: 'another time' })).toBe(false)
    expect(identifyProcess(0)).toBeNull()
    expect(identifyProcess(2 ** 31 - 1)).toBeNull()
  })
})

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'heddle-test-owner-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

async function leave(dataDir: string, number: number, content: string): Promise<void> {
  await mkdir(join(dataDir, 'owner'), { recursive: true })
  await writeFile(join(dataDir, 'owner', String(number)), content)
}
