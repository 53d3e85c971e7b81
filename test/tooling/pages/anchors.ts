import GithubSlugger from 'github-slugger'

/** The places of a page that a link can name: its headings, as GitHub and the built site name them, and `<a id="…">`. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const prose = page.replace(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\s*$/gm, '')
  const slugger = new GithubSlugger()
  const headings = [...prose.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => slugger.slug(plain(heading)))
  const named = [...prose.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)
  return new Set([...headings, ...named])
}

/** A heading without the marks of links and code. */
function plain(heading: string): string {
  return heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')
}
