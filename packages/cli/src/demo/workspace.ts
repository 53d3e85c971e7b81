import { copyFile, mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { PermanentError } from '@heddle/contracts'

/** What the agent of the demo may see: texts of a size that a person writes. */
const FILE_BYTES_MAX = 128 * 1_024
const FILES_MAX = 600
const EXTENSIONS = new Set(['.ts', '.js', '.mjs', '.cjs', '.json', '.md', '.yaml', '.yml', '.sql'])
const LEFT_OUT = new Set(['node_modules', 'coverage', 'package-lock.json'])
const FILES_MIN = 12

/**
 * Copies a project's own files into a scratch folder, so that the agent of the demo can edit them and nothing of the
 * project changes. Hidden files stay behind (they may hold secrets), and `dist` where its sources stand beside it: an
 * installed Heddle has nothing but `dist`.
 *
 * @returns the paths of the copies below `scratchDir`, with `/`, sorted
 * @throws PermanentError `NOT_FOUND` where the folder holds too little to work with
 */
export async function copyWorkspace(sourceDir: string, scratchDir: string): Promise<string[]> {
  const paths: string[] = []
  for await (const path of walk(sourceDir, '')) {
    if (paths.length === FILES_MAX) break
    paths.push(path)
  }
  if (paths.length < FILES_MIN) {
    throw new PermanentError(
      'NOT_FOUND',
      `${sourceDir} holds ${paths.length} readable files, the demo needs ${FILES_MIN}`,
      {
        hint: 'Run the demo on a session of your own: heddle demo FILE.',
      },
    )
  }
  for (const path of paths) {
    const target = join(scratchDir, path)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(join(sourceDir, path), target)
  }
  return paths
}

async function* walk(root: string, below: string): AsyncGenerator<string> {
  const entries = await readdir(join(root, below), { withFileTypes: true })
  const names = new Set(entries.map((entry) => entry.name))
  entries.sort((left, right) => (left.name < right.name ? -1 : 1))
  for (const entry of entries) {
    if (entry.name.startsWith('.') || LEFT_OUT.has(entry.name)) continue
    const path = posix.join(below, entry.name)
    if (entry.isDirectory()) {
      if (entry.name === 'dist' && names.has('src')) continue
      yield* walk(root, path)
    } else if (entry.isFile() && EXTENSIONS.has(posix.extname(entry.name)) && !entry.name.endsWith('.d.ts')) {
      const { size } = await stat(join(root, path))
      if (size > 0 && size <= FILE_BYTES_MAX) yield path
    }
  }
}
