import type { SimpleCommand } from './command-line.js'

/** A change of one file, or of a folder with everything below it, by a command. */
export type FileEffect =
  /** `create` leaves an existing file as it is. */
  | { readonly kind: 'view' | 'write' | 'create' | 'folder' | 'remove'; readonly path: string }
  | {
      readonly kind: 'move' | 'copy'
      readonly path: string
      readonly to: string
      /** Whether `to` is a folder, into which the file goes. */
      readonly isInto: boolean
    }

/** The effects of a command on the files in its arguments, if it succeeds. */
export function effectsOf({ words }: SimpleCommand): FileEffect[] {
  const [name, ...rest] = words
  // An unknown word might be an option that changes the meaning of the others.
  if (name == null || rest.includes(null)) return []
  const given = rest as readonly string[]
  const plain = given.filter((word) => !word.startsWith('-') && word !== '')
  switch (name) {
    case 'sed':
    case 'gsed':
      return each('write', sedTargets(given))
    case 'perl':
      return each('write', perlTargets(given))
    case 'tee':
      return each('write', plain)
    case 'truncate':
      return each('write', plain.slice(-1))
    case 'touch':
      return each('create', plain)
    case 'mkdir':
      return each('folder', plain)
    case 'rm':
    case 'unlink':
      return each('remove', plain)
    case 'mv':
      return transfers('move', given, plain)
    case 'cp':
      return transfers('copy', given, plain)
    case 'git':
      return gitEffects(given)
    default:
      return []
  }
}

/** The files whose lines a command prints. */
export function viewsOf({ words, redirectedTo, isSilent }: SimpleCommand): FileEffect[] {
  const [name, ...rest] = words
  if (!['cat', 'head', 'tail', 'nl'].includes(name ?? '') || rest.includes(null) || redirectedTo.length > 0) return []
  const plain = rest.filter((word) => word !== null && !/^[-+]|^\d+$/.test(word))
  return isSilent || rest.includes('-c') ? [] : each('view', plain as readonly string[])
}

/** The files that the output of a command goes to. */
export function redirectionsOf({ redirectedTo }: SimpleCommand): FileEffect[] {
  return each(
    'write',
    redirectedTo.flatMap((path) => path ?? []),
  )
}

function each(kind: 'view' | 'write' | 'create' | 'folder' | 'remove', paths: readonly string[]): FileEffect[] {
  return paths.flatMap((path) => (path === '' ? [] : [{ kind, path }]))
}

function transfers(kind: 'move' | 'copy', words: readonly string[], plain: readonly string[]): FileEffect[] {
  const to = plain.at(-1) ?? ''
  const isNamedElsewhere = words.some((word) => word === '-t' || word.startsWith('--target-directory'))
  if (plain.length < 2 || isNamedElsewhere) return []
  const isInto = plain.length > 2 || to.endsWith('/')
  return plain.slice(0, -1).map((path) => ({ kind, path, to, isInto }))
}

/** The files of `sed -i SCRIPT F…`; with `-e` or `-f` every plain word is a file. macOS requires `-i ''`. */
function sedTargets(words: readonly string[]): string[] {
  const inPlace = words.findIndex((word) => /^-[nEru]*i|^--in-place/.test(word))
  if (inPlace === -1) return []
  const plain: string[] = []
  let hasScript = false
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (word === '-e' || word === '-f' || word === '--expression') {
      hasScript = true
      index++
    } else if (!word.startsWith('-') && word !== '') plain.push(word)
  }
  return plain.slice(hasScript ? 0 : 1)
}

/** The files of `perl -i -pe SCRIPT F…`; without a script on the line the files are unknown. */
function perlTargets(words: readonly string[]): string[] {
  const hasScript = words.some((word) => /^-\w*e$/.test(word))
  if (!hasScript || !words.some((word) => /^-\w*i/.test(word))) return []
  return words.filter((word) => !word.startsWith('-')).slice(1)
}

function gitEffects(words: readonly string[]): FileEffect[] {
  const [verb, ...rest] = words
  const plain = rest.filter((word) => !word.startsWith('-'))
  if (verb === 'rm' && !rest.includes('--cached')) return each('remove', plain)
  if (verb === 'mv') return transfers('move', rest, plain)
  if (verb === 'restore' && !rest.includes('--staged')) return each('write', plain)
  const dashes = rest.indexOf('--')
  return verb === 'checkout' && dashes !== -1 ? each('write', rest.slice(dashes + 1)) : []
}
