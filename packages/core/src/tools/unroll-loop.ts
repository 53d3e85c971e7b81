const CHARACTERS_MAX = 20_000
const VALUES_MAX = 100
const PLAIN = /^[\w./@%+=:,-]{1,1000}$/
const VARIABLE = /\$(?:\{(\w{1,40})\}|(\w{1,40}))/g
/** Forms in a body whose commands may run not at all, or more than once. */
const NESTED = /(?:^|[\n;&|])[ \t]{0,40}(?:for|while|until|case|select|function)[ \t]/

/**
 * The commands of a line that is a loop over plain words, `for f in a.ts b.ts; do sed -i s/x/y/ "$f"; done`, once for each word.
 * Conditions in its body are left out.
 *
 * @returns null for any other line
 */
export function unrollLoop(command: string): string | null {
  if (command.length > CHARACTERS_MAX) return null
  const text = command.replaceAll('\\\n', ' ').trim()
  const headEnd = text.search(/[;\n]/)
  if (!text.startsWith('for ') || headEnd === -1 || !/[\s;]done$/.test(text)) return null
  const [, name = '', keyword, ...given] = text
    .slice(0, headEnd)
    .split(/\s+/)
    .filter((word) => word !== '')
  const values = given.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
  const rest = text.slice(headEnd + 1, -'done'.length).trim()
  const isPlain = /^\w{1,40}$/.test(name) && keyword === 'in' && values.every((value) => PLAIN.test(value))
  if (!isPlain || values.length > VALUES_MAX || !/^do\s/.test(rest)) return null
  const body = withoutConditions(rest.slice('do'.length))
  if (NESTED.test(body)) return null
  return values
    .map((value) => body.replace(VARIABLE, (all, braced, bare) => ((braced ?? bare) === name ? value : all)))
    .join('\n')
}

/** Commands of conditions may not have run. */
function withoutConditions(body: string): string {
  let depth = 0
  const kept = body.split('\n').filter((line) => {
    const text = line.trim()
    const isOutside = depth === 0
    if (/^if\s/.test(text)) depth++
    if (/(?:^|[\s;])fi(?:$|[\s;])/.test(text)) {
      depth = Math.max(0, depth - 1)
      return false
    }
    return isOutside && depth === 0
  })
  return kept.join('\n')
}
