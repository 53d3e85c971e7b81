import type { ToolCall, ToolKind, ToolRule } from '@heddle/contracts'
import { type ReadArguments, readArguments, textField } from './arguments.js'
import { patchedPaths } from './patches.js'
import { type LineRange, rangeOf } from './ranges.js'
import { describeCommand } from './shell.js'
import { type ShellWrite, shellWrites } from './shell-writes.js'
import { defaultToolTable } from './table.js'

/** The effect of a tool call, as far as pruning and summarizing need it. */
export interface ToolUse {
  readonly kind: ToolKind
  /** The viewed or edited file, as the call spells it. */
  readonly path: string | null
  /** Every file that the call names, `path` first: a patch may change many. */
  readonly paths: readonly string[]
  /** The lines that a view requests; null is the whole file. */
  readonly range: LineRange | null
  readonly pattern: string | null
  /** Where a search is made; null if the call does not say. */
  readonly searchPath: string | null
  readonly command: string | null
  /** The working directory in the call. */
  readonly directory: string | null
  /** Files that a command line changes or removes. */
  readonly writes: readonly ShellWrite[]
  /** Whether an edit gives the whole content of its file. */
  readonly writesWhole: boolean
  /** How to read the tool's results, if its row says so. */
  readonly result: ToolRule['result'] | null
}

/** Rows by the letters and digits of their tool names. */
export type ToolCatalog = ReadonlyMap<string, readonly ToolRule[]>

/** Builds a catalog; earlier rows win, so a user's own rows are passed before {@link defaultToolTable}. */
export function createToolCatalog(...tables: readonly (readonly ToolRule[])[]): ToolCatalog {
  const catalog = new Map<string, ToolRule[]>()
  for (const rule of tables.flat()) {
    for (const name of rule.names) {
      const key = lettersAndDigits(name)
      const rules = catalog.get(key)
      if (rules) rules.push(rule)
      else catalog.set(key, [rule])
    }
  }
  return catalog
}

const defaultCatalog = createToolCatalog(defaultToolTable)

/** The catalog with a user's own rows before Heddle's. */
export function toolCatalogOf(own: readonly ToolRule[]): ToolCatalog {
  return own.length === 0 ? defaultCatalog : createToolCatalog(own, defaultToolTable)
}

const unknownUse: ToolUse = {
  kind: 'other',
  path: null,
  paths: [],
  range: null,
  pattern: null,
  searchPath: null,
  command: null,
  directory: null,
  writes: [],
  writesWhole: false,
  result: null,
}

/**
 * Describes a call. Unknown tools and unreadable arguments give `other`; never throws.
 *
 * @param read its arguments, of a caller that has read them
 */
export function describeToolCall(
  call: ToolCall,
  catalog: ToolCatalog = defaultCatalog,
  read: ReadArguments = readArguments(call),
): ToolUse {
  const remote = call.name.startsWith('mcp__')
  const rules = catalog.get(lettersAndDigits(call.name)) ?? catalog.get(lettersAndDigits(lastPart(call.name))) ?? []
  for (const rule of rules) {
    const use = applyRule(rule, read)
    // A search or an edit of a remote service is not about files unless it names one.
    if (use && !(remote && use.kind !== 'bash' && use.path === null && use.searchPath === null)) {
      return { ...use, directory: textField(read.fields, rule.directory ?? []), result: rule.result ?? null }
    }
  }
  const path = textField(read.fields, ['file_path', 'path', 'filename'])
  return path === null ? unknownUse : { ...unknownUse, path, paths: [path] }
}

/** The use that a row gives to a call, or null if the call lacks the fields of the row. */
function applyRule(rule: ToolRule, read: ReadArguments): ToolUse | null {
  const { fields, text, whole } = read
  if (rule.when && !rule.when.values.includes(textField(fields, [rule.when.argument]) ?? '')) return null
  switch (rule.kind) {
    case 'file_view':
    case 'edit': {
      const patch = rule.patch ? (textField(fields, rule.patch) ?? text) : null
      const named = textField(fields, rule.path ?? []) ?? (rule.patch ? null : bareName(text))
      const paths = named !== null ? [named] : patch === null ? pathList(fields) : patchedPaths(patch)
      const actsOnOpenFile =
        rule.openFile === true || rule.openFile?.some((argument) => Object.hasOwn(fields, argument))
      if (paths.length === 0 && actsOnOpenFile !== true && whole) return null
      const range = rule.kind === 'file_view' ? rangeOf(fields, rule.range) : null
      const writesWhole = rule.kind === 'edit' && paths.length === 1 && givesContent(fields, rule.content ?? [])
      return { ...unknownUse, kind: rule.kind, path: paths[0] ?? null, paths, range, writesWhole }
    }
    case 'grep': {
      const pattern = textField(fields, rule.pattern ?? []) ?? bareName(text)
      if (pattern === null && whole) return null
      const searchPath = textField(fields, rule.searchPath ?? [])
      return { ...unknownUse, kind: 'grep', pattern, searchPath: searchPath === pattern ? null : searchPath }
    }
    case 'bash': {
      const command = commandOf(fields, rule.command ?? []) ?? text
      return command === null && whole ? null : describeShell(command)
    }
    case 'other':
      return unknownUse
  }
}

/** Whether a call has the content of a file as an argument, and does not append it. */
function givesContent(fields: ReadArguments['fields'], keys: readonly string[]): boolean {
  if (fields['append'] === true || /^a/.test(textField(fields, ['mode']) ?? '')) return false
  return keys.some((key) => Object.hasOwn(fields, key) && typeof fields[key] === 'string')
}

function describeShell(command: string | null): ToolUse {
  if (command === null) return { ...unknownUse, kind: 'bash' }
  if (/^\s*(?:apply_patch|git apply)\b/.test(command)) {
    const paths = patchedPaths(command)
    if (paths.length > 0) return { ...unknownUse, kind: 'edit', path: paths[0] ?? null, paths, command }
  }
  const simple = describeCommand(command)
  if (simple?.kind === 'file_view') return { ...unknownUse, ...simple, paths: [simple.path], command }
  if (simple?.kind === 'grep') return { ...unknownUse, ...simple, command }
  return { ...unknownUse, kind: 'bash', command, writes: shellWrites(command) }
}

/** A command line; for a list of words, such as `['bash', '-lc', 'ls']`, the script in it. */
function commandOf(fields: Readonly<Record<string, unknown>>, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (typeof value === 'string' && value.trim() !== '') return value
    if (!Array.isArray(value) || value.length === 0) continue
    const words = value.filter((word) => typeof word === 'string')
    if (/(?:^|\/)(?:ba|z|da)?sh$/.test(words[0] ?? '') && /^-\w*c$/.test(words[1] ?? '')) return words[2] ?? null
    return words.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word}'`)).join(' ')
  }
  return null
}

function pathList(fields: Readonly<Record<string, unknown>>): string[] {
  const list = ['paths', 'file_paths', 'files']
    .map((key) => (Object.hasOwn(fields, key) ? fields[key] : null))
    .find(Array.isArray)
  return list?.filter((path) => typeof path === 'string').slice(0, 100) ?? []
}

/** If the arguments are one bare word, it names the file or the search pattern. */
function bareName(text: string | null): string | null {
  return text !== null && text.trim() !== '' && text.length <= 1_000 && !text.includes('\n') ? text.trim() : null
}

/** `mcp__files__read_file` and `functions.read_file` become `read_file`. */
function lastPart(name: string): string {
  return name.split(/__|[./:]/).at(-1) ?? name
}

function lettersAndDigits(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
