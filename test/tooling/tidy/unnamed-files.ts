import { posix } from 'node:path'
import type { Checkout } from '../structure/checkout.js'
import { linksOf } from './links.js'

/** Files that tools or readers find by these names and in these folders. */
const FOUND_BY_NAME =
  /(^|\/)(README\.md|LICENSE|package(-lock)?\.json|tsconfig[\w.]*\.json|\.[\w.]+|[A-Z_]+\.md|biome\.json|__init__\.py|pyproject\.toml|test_\w+\.py)$|^\.(github|changeset|ci)\/|\/migrations\/|\[path\]\.md$/

/**
 * Unused files: pages without a link from another page, and assets and scripts whose name occurs in no other
 * file. knip checks TypeScript.
 */
export function unnamedFiles(checkout: Checkout): readonly string[] {
  const { paths, read } = checkout
  const linked = new Set(linksOf(checkout).flatMap(({ page, path }) => (page === path ? [] : [path])))
  const candidates = paths.filter((path) => !/\.tsx?$/.test(path) && !FOUND_BY_NAME.test(path) && !linked.has(path))
  if (candidates.length === 0) return []
  const texts = paths
    .filter((path) => !/package-lock\.json$|\.(png|svg|ico|woff2?)$/.test(path))
    .map((path) => ({ path, text: read(path) }))
  return candidates.filter((candidate) => {
    if (candidate.endsWith('.md') && candidate.startsWith('docs/')) return true
    const name = posix.basename(candidate)
    const stem = name.replace(/\.\w+$/, '')
    return !texts.some(
      ({ path, text }) =>
        path !== candidate &&
        (text.includes(name) || text.includes(`/${stem}'`) || text.includes(`from .${stem} import`)),
    )
  })
}
