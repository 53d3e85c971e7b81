import type { Scratch } from './scratch.js'

/** A simple command whose words are known. */
export interface Called {
  readonly name: string
  readonly words: readonly string[]
  readonly at: (path: string) => string
  readonly input: string | null
}

/** Commands that change files only by their arguments, or not at all, and say so when they fail. */
export const SPEAKING = new Set(
  'rm rmdir unlink mv cp touch mkdir sed gsed perl tee truncate cat echo printf cd pwd true : export ln sleep set'.split(
    ' ',
  ),
)
export const VIEWERS = new Set(['cat', 'head', 'tail', 'less', 'more', 'nl', 'bat'])

/** The files that a command changes; empty for a command that is not known to change any. */
export function changedBy({ name, words, at }: Called): string[] {
  const plain = words.filter((word) => !word.startsWith('-') && word !== '')
  switch (name) {
    case 'rm':
    case 'unlink':
    case 'rmdir':
    case 'touch':
    case 'tee':
    case 'mv':
      return plain.map(at)
    case 'cp':
    case 'ln':
    case 'truncate':
      return plain.slice(-1).map(at)
    case 'sed':
    case 'gsed':
    case 'perl':
      return inPlace(name, words).map(at)
    case 'git':
      return gitFiles(words).map(at)
    default:
      return []
  }
}

/** Changes the scratch folder as the command does when it succeeds. */
export function apply(called: Called, scratch: Scratch): void {
  const { name, words, at, input } = called
  const plain = words.filter((word) => !word.startsWith('-') && word !== '')
  if (name === 'rm' || name === 'unlink' || name === 'rmdir') for (const path of plain) scratch.delete(at(path))
  else if (name === 'touch') for (const path of plain) scratch.touch(at(path))
  else if (name === 'mkdir') for (const path of plain) scratch.folder(at(path))
  else if (name === 'mv' || name === 'cp') transfer(called, plain, name === 'mv', scratch)
  else if (name === 'ln') scratch.write(at(plain.at(-1) ?? ''), null)
  else if (name === 'tee') {
    const isAppended = words.includes('-a')
    for (const path of plain) isAppended ? scratch.append(at(path), input) : scratch.write(at(path), input)
  } else if (name === 'git') {
    const [verb, ...rest] = words.filter((word) => !word.startsWith('-') && word !== '')
    if (verb === 'mv') transfer(called, rest, true, scratch)
    else if (verb === 'rm') for (const path of rest) scratch.delete(at(path))
    else for (const path of gitFiles(words)) scratch.write(at(path), null)
  } else for (const path of changedBy(called)) scratch.write(path, null)
}

function transfer({ at }: Called, plain: readonly string[], isMove: boolean, scratch: Scratch): void {
  const target = plain.at(-1) ?? ''
  const sources = plain.slice(0, -1)
  if (sources.length > 1 || target.endsWith('/')) scratch.folder(at(target))
  for (const source of sources) scratch.transfer(at(source), at(target), { isMove })
}

function inPlace(name: string, words: readonly string[]): string[] {
  const option = name === 'perl' ? /^-\w*i/ : /^(?:-[a-zA-Z]*i|--in-place)/
  if (!words.some((word) => option.test(word))) return []
  const plain: string[] = []
  let hasScript = false
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (/^(?:-\w*e|-f|--expression)$/.test(word)) {
      hasScript = true
      index++
    } else if (word !== '' && !word.startsWith('-')) plain.push(word)
  }
  return hasScript ? plain : plain.slice(1)
}

/** Of `git checkout F`, a word that names a file by its look. */
function gitFiles(words: readonly string[]): string[] {
  const [verb, ...rest] = words
  const plain = rest.filter((word) => !word.startsWith('-') && word !== '')
  const isFile = (word: string) => /\.\w{1,6}$/.test(word)
  if (verb === 'rm') return rest.includes('--cached') ? [] : plain
  if (verb === 'mv') return plain
  if (verb === 'restore') return rest.includes('--staged') ? [] : plain
  if (verb !== 'checkout') return []
  const dashes = rest.indexOf('--')
  return dashes === -1 ? plain.filter(isFile) : rest.slice(dashes + 1)
}
