/** Declarations in a file that a reader would search for; the first group is the name. */
const TYPES = [
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|interface|enum|namespace) ([A-Za-z_$][\w$]{0,60})/,
  /^(?:export )?type ([A-Za-z_$][\w$]{0,60})(?:<.{0,80}>)? =/,
  /^type ([A-Za-z_]\w{0,60}) (?:struct|interface|func|map|\[)/,
  /^(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|mod|union) ([A-Za-z_]\w{0,60})/,
  /^\s{0,4}(?:public |private |protected |internal |static |final |sealed |abstract )+(?:class|interface|enum|record) ([A-Za-z_]\w{0,60})/,
  /^module ([A-Z]\w{0,60})/,
]
const FUNCTIONS = [
  /^(?:export )?(?:default )?(?:async )?function\*? ([A-Za-z_$][\w$]{0,60})/,
  /^export const ([A-Za-z_$][\w$]{0,60})/,
  /^(?:async )?def ([A-Za-z_]\w{0,60})/,
  /^func (?:\([^)]{1,80}\) )?([A-Za-z_]\w{0,60})/,
  /^(?:pub(?:\([a-z]+\))? )?(?:async |const |unsafe )*fn ([A-Za-z_]\w{0,60})/,
  /^([A-Za-z_]\w{0,60})\(\) \{/,
]
/** Methods and tests, used if a file has no top-level declarations. */
const INNER = [
  /^\s{2,8}(?:async )?def ([A-Za-z_]\w{0,60})/,
  /^\s{2,8}(?:pub )?fn ([A-Za-z_]\w{0,60})/,
  /^\s{2,8}(?:public |private |protected |static |async )+(?:[\w<>[\],]{1,60} )?([A-Za-z_]\w{0,60})\(/,
]
const HEADING = /^#{1,4} (.{1,80}?)\s*#*$/
const KEY = /^([A-Za-z_][\w.-]{0,40}):(?:\s|$)|^\[([^\]]{1,60})\]$|^\s{2}"([^"]{1,40})": /

const SYMBOLS_MAX = 6
const CHARACTERS_MAX = 110

/** The most informative names of a file: types, then functions, or headings, or keys, by the kind of file. */
export function topSymbols(lines: readonly string[], path: string | null): string[] {
  const extension = /\.([a-z0-9]+)$/i.exec(path ?? '')?.[1]?.toLowerCase() ?? ''
  if (/^(?:md|mdx|rst|txt|adoc)$/.test(extension)) return fit(namesIn(lines, [HEADING]))
  if (/^(?:ya?ml|toml|json|ini|cfg)$/.test(extension)) return fit(namesIn(lines, [KEY]))
  const types = namesIn(lines, TYPES)
  const functions = namesIn(lines, FUNCTIONS).map((name) => `${name}()`)
  const declared = [...types.slice(0, 4), ...functions]
  return fit(declared.length > 0 ? declared : namesIn(lines, INNER).map((name) => `${name}()`))
}

function namesIn(lines: readonly string[], patterns: readonly RegExp[]): string[] {
  const names = new Set<string>()
  for (const line of lines) {
    for (const pattern of patterns) {
      const found = pattern.exec(line)
      const name = found?.slice(1).find((group) => group !== undefined)
      if (name !== undefined) names.add(name)
      if (found) break
    }
    if (names.size > SYMBOLS_MAX) break
  }
  return [...names]
}

function fit(names: readonly string[]): string[] {
  const fitting: string[] = []
  let characters = 0
  for (const name of names) {
    characters += name.length + 2
    if (fitting.length === SYMBOLS_MAX || characters > CHARACTERS_MAX) return [...fitting, '…']
    fitting.push(name)
  }
  return fitting
}
