import { dirname } from 'node:path'

/** A longer list of names is hard to read. */
export const FOLDER_FILES_MAX = 25

/** Folders of code with more files than that, as `path: count`; tests beside sources and migrations are not counted. */
export function crowdedFolders(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const isBeside = path.endsWith('.test.ts') && !path.startsWith('test/')
    if (!/^(packages|services|test)\/.*\.(ts|mjs)$/.test(path) || isBeside) continue
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > FOLDER_FILES_MAX).map(([folder, count]) => `${folder}: ${count}`)
}
