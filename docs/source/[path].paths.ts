import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { foldersWithPage, linkedSources, pagesIn, root, sourceName } from '../.vitepress/pages.js'

/** A page for each source that another page links to. */
export default {
  paths: () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      ...pagesIn('docs'),
      ...pagesIn('docs/decisions'),
      'infra/README.md',
      'infra/helm/heddle/README.md',
      'clients/python/README.md',
    ]
    return linkedSources([...pages, ...['packages', 'services', 'test'].flatMap(foldersWithPage)]).map((path) => ({
      params: { path: sourceName(path), file: path },
      content: `\`\`\`${extname(path).slice(1) || 'text'}\n${readFileSync(join(root, path), 'utf8')}\`\`\`\n`,
    }))
  },
}
