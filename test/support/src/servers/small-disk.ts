import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder on a separate disk, small enough to be filled; null if this user cannot mount one. */
export function smallDisk(megabytes: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-test-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  })
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  chmodSync(dataDir, 0o711)
  return dataDir
}

/** Leaves no byte free on the disk of a file. */
export async function fillDisk(path: string): Promise<void> {
  const file = await open(path, 'a')
  try {
    for (let bytes = 1_048_576; bytes >= 512; ) {
      try {
        await file.write(Buffer.alloc(bytes))
      } catch (error) {
        if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOSPC') throw error
        bytes /= 2
      }
    }
  } finally {
    await file.close()
  }
}
