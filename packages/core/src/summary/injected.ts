/*
 * What stands in a user's message and is not the user's: agents and their editors put it there. An expanded slash command is
 * the text of a command's file, the output of a local command is a program's, a reminder is the harness's. A summary that took
 * them for requests would tell an agent to do what nobody asked for.
 */

/** Blocks that agents put around or beside what their users say. */
const BLOCKS = [
  'system-reminder',
  'local-command-stdout',
  'local-command-stderr',
  'local-command-caveat',
  'command-message',
  'command-name',
  'command-args',
  'command-contents',
  'bash-input',
  'bash-stdout',
  'bash-stderr',
  'user-prompt-submit-hook',
  'ide_opened_file',
  'ide_selection',
  'environment_details',
  'environment_context',
  'task-notification',
  'function_results',
]

/** A text without the blocks that nobody said. One that is not closed goes to the end. */
export function withoutInjected(text: string): string {
  return BLOCKS.reduce(withoutBlocks, text)
}

function withoutBlocks(text: string, name: string): string {
  let rest = text
  for (let at = rest.indexOf(`<${name}>`); at >= 0; at = rest.indexOf(`<${name}>`, at)) {
    const end = rest.indexOf(`</${name}>`, at)
    rest = end < 0 ? rest.slice(0, at) : rest.slice(0, at) + rest.slice(end + name.length + 3)
  }
  return rest
}

/** A slash command that a user gave, with what was said after its name. */
export interface SlashCommand {
  /** With its slash. */
  readonly name: string
  readonly words: string
}

const NAME = /<command-name>\s*\/?([\w:.-]{1,80})\s*<\/command-name>/
const WORDS = /<command-args>([\s\S]{0,4000}?)<\/command-args>/

/** The slash command that a message is; null where it is something else. */
export function slashCommandIn(text: string): SlashCommand | null {
  const name = NAME.exec(text.slice(0, 8_000))?.[1]
  return name === undefined ? null : { name: `/${name}`, words: WORDS.exec(text)?.[1]?.trim() ?? '' }
}
