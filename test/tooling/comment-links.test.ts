import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { anchorsOf } from './pages/anchors.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** The links of a text into `docs/`; `#x` that follows `docs/page.md#y and` belongs to the same page. */
function linksOf(text: string): readonly { readonly page: string; readonly anchor: string | undefined }[] {
  return [...text.matchAll(/docs\/([\w/.-]+\.md)((?:(?:,| and)?(?:\n \*)? ?#[\w-]+)*)/g)].flatMap(
    ([, page = '', anchors = '']) => {
      const named = [...anchors.matchAll(/#([\w-]+)/g)].map(([, anchor]) => anchor)
      return named.length === 0 ? [{ page, anchor: undefined }] : named.map((anchor) => ({ page, anchor }))
    },
  )
}

/** Lines that are comments: texts of examples name pages, too, that are not ours. */
function commentsOf(source: string): string {
  return source
    .split('\n')
    .filter((line) => /^\s*(\/\/|\*|\/\*\*(?! `)|# |-- )/.test(line))
    .join('\n')
}

async function sources(): Promise<readonly string[]> {
  const { stdout } = await run('git', ['ls-files', 'packages', 'services', 'test', 'infra'], { cwd: root })
  return stdout
    .split('\n')
    .filter((path) => /\.(ts|mts|mjs|js|py|sh|sql)$/.test(path) && !path.startsWith('test/tooling/'))
}

describe('comments', () => {
  it('link to pages and anchors of docs/ that exist', async () => {
    const anchors = new Map<string, ReadonlySet<string>>()
    const dead: string[] = []
    let links = 0
    for (const path of await sources()) {
      for (const { page, anchor } of linksOf(commentsOf(await readFile(join(root, path), 'utf8')))) {
        links += 1
        const known =
          anchors.get(page) ?? (await readFile(join(root, 'docs', page), 'utf8').then(anchorsOf, () => null))
        if (known !== null) anchors.set(page, known)
        if (known === null) dead.push(`${path}: there is no docs/${page}`)
        else if (anchor !== undefined && !known.has(anchor)) dead.push(`${path}: docs/${page} has no #${anchor}`)
      }
    }
    expect(dead).toEqual([])
    expect(links).toBeGreaterThan(100)
  })

  it('name no text outside of this repository', async () => {
    const outside: string[] = []
    for (const path of await sources()) {
      const lines = (await readFile(join(root, path), 'utf8')).split('\n')
      lines.forEach((line, index) => {
        if (/\b[Ss]pec 0\d\d\b|\bDESIGN\b|\bCX-N?T\d/.test(line)) outside.push(`${path}:${index + 1}: ${line.trim()}`)
      })
    }
    expect(outside).toEqual([])
  })

  it('are read with all anchors of one page', () => {
    expect(linksOf('as docs/a.md#b and #c say, and (docs/d.md)')).toEqual([
      { page: 'a.md', anchor: 'b' },
      { page: 'a.md', anchor: 'c' },
      { page: 'd.md', anchor: undefined },
    ])
    expect(anchorsOf('# One `two`\n\n```\n# no\n```\n\n1. <a id="three"></a>x\n\n# One two\n')).toEqual(
      new Set(['one-two', 'three', 'one-two-1']),
    )
  })
})
