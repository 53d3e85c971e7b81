export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What may come after a command, the program's own name left out: `context build`. */
export interface WordList {
  readonly path: string
  readonly words: readonly string[]
}

/** A script that a shell reads once. It knows the words itself: a start of heddle with each key would be slow. */
export function completionScript(shell: Shell, lists: readonly WordList[]): string {
  if (shell === 'fish') return fishScript(lists)
  // zsh runs the function of bash: what it lacks of it comes with the first line.
  const before = shell === 'zsh' ? '#compdef heddle\nautoload -U +X bashcompinit && bashcompinit\n' : ''
  return `${before}${bashScript(lists)}`
}

function bashScript(lists: readonly WordList[]): string {
  const cases = lists.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`)
  return `_heddle() {
  local path='' words='' word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case " ${commandPaths(lists).join(' ')} " in
      *" \${path:+$path/}$word "*) path="\${path:+$path/}$word" ;;
    esac
  done
  case "\${path//// }" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _heddle heddle
`
}

/** `context/build`: a path is one word there. */
function commandPaths(lists: readonly WordList[]): string[] {
  return lists.flatMap(({ path }) => (path === '' ? [] : [path.replaceAll(' ', '/')]))
}

function fishScript(lists: readonly WordList[]): string {
  const names = lists.flatMap(({ path }) => (path === '' || path.includes(' ') ? [] : [path]))
  const lines = lists.flatMap(({ path, words }) => {
    const commands = words.filter((word) => !word.startsWith('--'))
    const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
    const seen = path.split(' ').map((name) => `__fish_seen_subcommand_from ${name}`)
    const condition = path === '' ? `not __fish_seen_subcommand_from ${names.join(' ')}` : seen.join('; and ')
    return [
      ...(commands.length === 0 ? [] : [`complete -c heddle -n '${condition}' -a '${commands.join(' ')}'`]),
      ...options.map((option) => `complete -c heddle -n '${condition}' -l ${option}`),
    ]
  })
  return `${lines.join('\n')}\n`
}
