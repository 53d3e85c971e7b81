import { relative } from 'node:path'
import GithubSlugger from 'github-slugger'
import { defineConfig, type MarkdownOptions } from 'vitepress'
import { deadLinks } from './dead-links.js'
import { addressOf, resolveLink, root } from './pages.js'
import { sidebar } from './sidebar.js'

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0]

/** Links in pages lead from file to file, as GitHub reads them; here they get the addresses of the site. */
function linkFromFiles(markdown: MarkdownIt): void {
  markdown.core.ruler.push('links-between-files', ({ tokens, env }) => {
    const page = relative(root, env.realPath ?? env.path)
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (href === null || /^(?:[a-z]+:|\/|#)/i.test(href) || page.startsWith('docs/source/')) continue
      token.attrSet('href', resolveLink(page, href))
    }
  })
}

/** Threads that cross. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="#6366f1" stroke-width="2"><path d="M4 1v14M12 1v14M1 5h14M1 11h14"/></svg>'

export default defineConfig({
  title: 'Heddle',
  description: 'The context engine for LLM agents',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  // Pages are all over the repository, beside their subjects.
  srcDir: '..',
  srcExclude: ['**/node_modules/**', '**/dist/**', '**/TEMPLATE.md', 'docs/source/**/README.md'],
  rewrites: (path) => addressOf(path) ?? path,
  cacheDir: '../node_modules/.cache/vitepress',
  cleanUrls: false,
  lastUpdated: false,
  markdown: {
    // Anchors as GitHub makes them, so that one link holds in both places.
    anchor: { slugify: (heading) => new GithubSlugger().slug(heading) },
    config: linkFromFiles,
  },
  themeConfig: {
    search: {
      provider: 'local',
      // A guide that speaks of a thing comes before the property that is called so.
      options: {
        miniSearch: { searchOptions: { boostDocument: (id: string) => (/\/(api|source)\//.test(id) ? 0.3 : 1) } },
      },
    },
    nav: [
      { text: 'Guides', link: '/quick-start' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'HTTP', link: '/http' },
      { text: 'API', link: '/api/' },
      { text: 'Design', link: '/design' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
  },
  buildEnd({ outDir, site }) {
    const dead = deadLinks(outDir, site.base)
    if (dead.length > 0) throw new Error(`links that lead nowhere:\n${dead.join('\n')}`)
  },
})
