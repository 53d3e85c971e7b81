import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Converter } from 'typedoc'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The packages whose interfaces users import. */
const PACKAGES = ['contracts', 'client', 'engine', 'sessions', 'ai-sdk', 'langchain', 'mastra', 'openai-agents']

/** The sources behind the exports of a manifest: `typedoc` reads types and comments from there. */
function entryPoints(name) {
  const { exports } = JSON.parse(readFileSync(`${root}packages/${name}/package.json`, 'utf8'))
  // The main door of the client passes on what the others declare.
  const sources = Object.values(exports).flatMap((entry) => entry['heddle:source'] ?? [])
  return sources.map((source) => join(root, 'packages', name, source))
}

/** Modules under the names by which they are imported: `client/src/http` is `@heddle/client/http`. */
function nameModules(application) {
  application.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) module.name = `@heddle/${module.name.replace('/src', '')}`
  })
}

/** @type {Partial<import('typedoc').TypeDocOptions> & Record<string, unknown>} */
export default {
  name: 'API',
  plugin: ['typedoc-plugin-markdown', nameModules],
  entryPoints: PACKAGES.flatMap(entryPoints),
  tsconfig: `${root}docs/.vitepress/typedoc.tsconfig.json`,
  out: `${root}docs/api`,
  readme: 'none',
  router: 'module',
  entryFileName: 'index.md',
  excludeInternal: true,
  excludePrivate: true,
  disableSources: true,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  sanitizeComments: true,
  useHTMLAnchors: true,
  logLevel: 'Warn',
}
