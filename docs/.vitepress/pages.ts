import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** The address of a page of the repository on the site; null for other files. */
export function addressOf(path: string): string | null {
  if (path === 'README.md') return 'index.md'
  const project = /^(CONTRIBUTING|SECURITY|CHANGELOG|CODE_OF_CONDUCT)\.md$/.exec(path)
  if (project?.[1] !== undefined) return `project/${project[1].toLowerCase().replaceAll('_', '-')}.md`
  // Shown as what it is: a text to copy.
  if (path === 'docs/decisions/TEMPLATE.md') return null
  if (/^docs\/.*\.md$/.test(path)) return path.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md')
  if (/^((packages|services|test|clients)\/[\w-]+|infra|infra\/helm\/heddle)\/README\.md$/.test(path))
    return path.replace('README.md', 'index.md')
  return null
}

/** Sources that pages link to are shown as pages of their own, under these names. */
export function sourceName(path: string): string {
  return path.replace(/\.md$/, '.markdown')
}

/**
 * A link of a page, with the place on the site that it leads to.
 * @throws Error where there is nothing in the repository that it could lead to
 */
export function resolveLink(page: string, href: string): string {
  const [path = '', anchor] = href.split('#')
  if (path === '') return href
  const target = posix.normalize(posix.join(posix.dirname(page), path)).replace(/\/$/, '')
  const suffix = anchor === undefined ? '' : `#${anchor}`
  for (const candidate of [target, `${target}/README.md`]) {
    const address = addressOf(candidate)
    if (address !== null && existsSync(join(root, candidate))) return `/${address}${suffix}`
  }
  if (existsSync(join(root, target)) && statSync(join(root, target)).isFile()) return `/source/${sourceName(target)}.md`
  throw new Error(
    `${page} links to ${href}: ${target} is neither a file of the repository nor a folder with a README.md`,
  )
}

/** Sources that any page links to, images apart. */
export function linkedSources(pages: readonly string[]): readonly string[] {
  const linked = new Set<string>()
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, href = ''] of text.matchAll(/(?<!!)\[[^\]]*\]\(([\w./-]+)\)/g)) {
      const target = posix.normalize(posix.join(posix.dirname(page), href))
      const file = join(root, target)
      if (addressOf(target) === null && existsSync(file) && statSync(file).isFile()) linked.add(target)
    }
  }
  return [...linked].toSorted()
}

/** Pages of a folder, by their addresses on the site. */
export function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => posix.join(folder, file))
    .toSorted()
}

/** Folders whose README.md is a page. */
export function foldersWithPage(folder: string): readonly string[] {
  return readdirSync(join(root, folder))
    .map((name) => posix.join(folder, name, 'README.md'))
    .filter((path) => existsSync(join(root, path)))
    .toSorted()
}

/** The first heading of a page, without marks. */
export function titleOf(path: string): string {
  const [, heading] = /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8')) ?? []
  if (heading === undefined) throw new Error(`${path} has no heading of the first level`)
  return heading.replaceAll('`', '')
}
