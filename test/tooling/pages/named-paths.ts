/** Folders of the repository whose paths are checked. */
const ROOTS = ['packages', 'services', 'test', 'docs', 'infra', '.ci', '.github', '.changeset']

/** The paths of this repository in the inline code of a page, such as `packages/core/src`, without those with placeholders. */
export function namedPaths(page: string): readonly string[] {
  const prose = page.replace(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\s*$/gm, '')
  const marked = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code.replace(/(#.*|:\d+)$/, ''))
  return marked.filter(
    (code) =>
      ROOTS.some((folder) => code.startsWith(`${folder}/`)) && /^[\w./-]+$/.test(code) && !/[A-Z]{4,}$/.test(code),
  )
}
