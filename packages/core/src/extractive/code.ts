import { NUMBERED } from '../tools/results.js'
import { namesIn } from './names.js'

const MODIFIERS =
  '(?:(?:export|default|declare|abstract|public|private|protected|internal|static|final|async|pub(?:\\(\\w+\\))?|unsafe|override|readonly) )*'
/** Lines that declare something, in the languages that most code is written in; the first group is its name. */
const DECLARATIONS = [
  new RegExp(
    `^[ \\t]{0,8}${MODIFIERS}(?:class|interface|enum|struct|trait|type|module|const|let|var) ([A-Za-z_$][\\w$]{1,60})`,
  ),
  new RegExp(`^[ \\t]{0,8}${MODIFIERS}(?:function\\*?|func(?: \\([^)]{1,80}\\))?|def|fn) ([A-Za-z_$][\\w$]{1,60})`),
  /^([A-Za-z_][\w-]{1,60})\(\)\s*\{/,
]
/** Variables are declared in the middle of code. */
const VARIABLE = /\b(?:const|let|var) (?!.*(?:=>|function\b))/
/** Declarations with a body below them. */
const SCOPED = DECLARATIONS.slice(1)
const LINES_MAX = 600
const LINE_CHARACTERS_MAX = 400

/** The declarations of some code, and the scope of its names. */
export interface CodeNames {
  readonly declared: ReadonlySet<string>
  /** The functions and types among them. */
  readonly units: ReadonlySet<string>
  /** The function in which a name first occurs, by name. */
  readonly scopes: ReadonlyMap<string, string>
}

/** @param text code, possibly with line numbers as viewers and searches show them */
export function readCode(text: string): CodeNames {
  const declared = new Set<string>()
  const units = new Set<string>()
  const scopes = new Map<string, string>()
  let scope = ''
  for (const rawLine of text.split('\n', LINES_MAX)) {
    const line = rawLine.slice(0, LINE_CHARACTERS_MAX).replace(NUMBERED, '')
    for (const pattern of DECLARATIONS) {
      const name = pattern.exec(line)?.[1]
      if (name === undefined) continue
      declared.add(name)
      if (!VARIABLE.test(line)) units.add(name)
      if (SCOPED.includes(pattern)) scope = name
      break
    }
    if (/^[})]/.test(line)) scope = ''
    if (scope !== '') for (const name of namesIn(line)) if (name !== scope && !scopes.has(name)) scopes.set(name, scope)
  }
  return { declared, units, scopes }
}
