import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { oneOf } from '../../options/option-values.js'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** The words that complete a command; `path` is the command without the program's name, such as `context build`. */
interface WordList {
  readonly path: string
  readonly words: readonly string[]
}

export function registerCompletion(program: Command, context: CommandContext): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .argument('<shell>', shells.join(', '), oneOf('shell', shells))
    .option('--json', 'print the commands and their options as one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  $ source <(heddle completion bash)\n  $ heddle completion zsh > ~/.zfunc/_heddle\n  $ heddle completion fish > ~/.config/fish/completions/heddle.fish',
    )
    .action((shell: Shell) => {
      const words = [...wordLists(program, '')]
      const script = completionScript(shell, words)
      context.printer.exact(script, script, { shell, words, script })
    })
}

/** Each command with its subcommands and long options, read from the program itself. */
function* wordLists(command: Command, path: string): Generator<WordList> {
  const commands = command.commands.map((each) => each.name())
  const options = command.options.flatMap(({ long }) => (long ? [long] : []))
  yield { path, words: [...commands, ...options, '--help', '--json'].filter(isFirst) }
  for (const each of command.commands) yield* wordLists(each, path === '' ? each.name() : `${path} ${each.name()}`)
}

function isFirst(word: string, index: number, words: readonly string[]): boolean {
  return words.indexOf(word) === index
}

/** A script that a shell reads once. It contains all words: starting heddle on each key press would be slow. */
function completionScript(shell: Shell, lists: readonly WordList[]): string {
  if (shell === 'fish') return fishScript(lists)
  // zsh runs the bash function; the first lines load the bash compatibility that it needs.
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
