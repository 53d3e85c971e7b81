import { posix } from 'node:path'
import { anchorsOf } from '../pages/anchors.js'
import type { Checkout } from '../structure/checkout.js'

export interface Link {
  readonly page: string
  readonly line: number
  /** As written in the page. */
  readonly target: string
  /** The path in the repository, and the anchor without `#`; empty if the target has no anchor. */
  readonly path: string
  readonly anchor: string
}

/** Links of the pages to files of the repository. */
export function linksOf({ paths, read }: Checkout): readonly Link[] {
  return paths.filter((path) => path.endsWith('.md')).flatMap((page) => pageLinks(page, read(page)))
}

export function pageLinks(page: string, text: string): readonly Link[] {
  const prose = text
    .replace(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\s*$/gm, (block) => block.replace(/[^\n]/g, ' '))
    .replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length))
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap((match) => {
    const [, target = ''] = match
    // Templates have a date to fill in.
    if (/^[a-z]+:|YYYY/.test(target)) return []
    const [file = '', anchor = ''] = target.split('#')
    const path = file === '' ? page : posix.join(posix.dirname(page), file)
    return [{ page, line: prose.slice(0, match.index).split('\n').length, target, path, anchor }]
  })
}

/** Links to files, folders or anchors that do not exist. */
export function deadLinks(checkout: Checkout): readonly Link[] {
  const files = new Set(checkout.paths)
  const anchors = new Map<string, ReadonlySet<string>>()
  return linksOf(checkout).filter(({ path, anchor }) => {
    const folder = path.replace(/\/$/, '')
    if (!files.has(path)) return !checkout.paths.some((file) => file.startsWith(`${folder}/`))
    if (anchor === '' || !path.endsWith('.md')) return false
    const known = anchors.get(path) ?? anchorsOf(checkout.read(path))
    anchors.set(path, known)
    return !known.has(anchor)
  })
}
