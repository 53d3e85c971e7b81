import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { oneOf } from '../../options/option-values.js'
import { completionScript, type Shell, shells, type WordList } from '../../output/completion.js'

export function registerCompletion(program: Command, context: CommandContext): void {
  program
    .command('completion')
    .description('print what makes a shell complete commands and options of heddle')
    .argument('<shell>', shells.join(', '), oneOf('shell', shells))
    .option('--json', 'the commands and their options as one JSON document')
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

/** What may come after each command: its subcommands and its long options, as the program itself knows them. */
function* wordLists(command: Command, path: string): Generator<WordList> {
  const commands = command.commands.map((each) => each.name())
  const options = command.options.flatMap(({ long }) => (long ? [long] : []))
  yield { path, words: [...commands, ...options, '--help', '--json'].filter(isFirst) }
  for (const each of command.commands) yield* wordLists(each, path === '' ? each.name() : `${path} ${each.name()}`)
}

function isFirst(word: string, index: number, words: readonly string[]): boolean {
  return words.indexOf(word) === index
}
