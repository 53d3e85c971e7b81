import type { DefaultTheme } from 'vitepress'
import { addressOf, foldersWithPage, pagesIn, titleOf } from './pages.js'

/** Pages of `docs/` in the order in which they are read. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  'Use it': [
    'quick-start',
    'inspector',
    'commands',
    'proxy',
    'integrations',
    'claude-code',
    'codex',
    'opencode',
    'producers',
    'delivery',
    'chat',
    'sub-agents',
  ],
  Contexts: [
    'windows',
    'strategies',
    'caching',
    'formats',
    'parts',
    'blocks',
    'sections',
    'receipts',
    'snapshots',
    'iterations',
  ],
  'Condensed and found': ['pruning', 'summaries', 'search', 'embedding', 'items', 'mcp-tools'],
  'Run it': ['operations', 'scale', 'telemetry', 'security', 'memory', 'erasure', 'performance'],
  Reference: ['configuration', 'http', 'http-operations', 'mcp', 'design', 'requirements'],
}

/** @throws Error where a page of `docs/` is in no group, or a group names a page that does not exist */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const listed = new Set(Object.values(GUIDES).flat())
  const missing = pagesIn('docs').filter((path) => !listed.has(path.slice('docs/'.length, -'.md'.length)))
  if (missing.length > 0) throw new Error(`docs/.vitepress/sidebar.ts does not list ${missing.join(', ')}`)
  return [
    ...Object.entries(GUIDES).map(([text, names]) =>
      group(
        text,
        names.map((name) => `docs/${name}.md`),
        false,
      ),
    ),
    { text: 'API', link: '/api/' },
    group(
      'Decisions',
      ['docs/decisions/README.md', ...pagesIn('docs/decisions').filter((path) => /\/\d/.test(path))],
      true,
    ),
    group(
      'Inside',
      [
        ...['packages', 'services', 'plugins', 'test'].flatMap(foldersWithPage),
        'infra/README.md',
        'infra/helm/heddle/README.md',
        'clients/python/README.md',
      ],
      true,
    ),
    group('The project', ['CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md'], true),
  ]
}

function group(text: string, paths: readonly string[], collapsed: boolean): DefaultTheme.SidebarItem {
  const items = paths.map((path) => ({ text: titleOf(path), link: `/${addressOf(path) ?? path}` }))
  return { text, collapsed, items }
}
