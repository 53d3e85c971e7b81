import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

interface BuiltPage {
  readonly ids: ReadonlySet<string>
  readonly links: readonly string[]
}

/**
 * Links of a built site that lead nowhere, as `page: link`: to a page that was not built, or to an anchor that its page lacks.
 * VitePress looks at pages only, and not at anchors.
 */
export function deadLinks(folder: string, base: string): readonly string[] {
  const files = new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/')),
  )
  const pages = new Map<string, BuiltPage>()
  for (const file of files) if (file.endsWith('.html')) pages.set(file, read(readFileSync(join(folder, file), 'utf8')))
  return [...pages].flatMap(([page, { links }]) =>
    links.filter((link) => isDead(page, link, { base, files, pages })).map((link) => `${page}: ${link}`),
  )
}

interface Site {
  readonly base: string
  readonly files: ReadonlySet<string>
  readonly pages: ReadonlyMap<string, BuiltPage>
}

function isDead(page: string, link: string, { base, files, pages }: Site): boolean {
  if (/^(?:[a-z]+:|\/\/)/i.test(link)) return false
  const [path = '', anchor = ''] = link.split('#')
  const target =
    path === '' ? page : fileOf(path.startsWith(base) ? path.slice(base.length) : posix.join(posix.dirname(page), path))
  const built = pages.get(target)
  if (built === undefined) return !files.has(target)
  return anchor !== '' && !built.ids.has(decodeURIComponent(anchor))
}

function fileOf(path: string): string {
  const plain = decodeURIComponent(path)
  if (plain === '' || plain.endsWith('/')) return `${plain}index.html`
  return posix.extname(plain) === '' ? `${plain}.html` : plain
}

function read(html: string): BuiltPage {
  return {
    ids: new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => decode(id))),
    links: [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].map(([, href = '']) => decode(href)),
  }
}

function decode(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}
