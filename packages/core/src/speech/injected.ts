/*
 * Parts of a user's message that the user did not write, but agents and their editors inserted. An expanded slash
 * command is the text of a command's file, the output of a local command is a program's, a reminder is the harness's. A
 * summary that mistook them for requests would make an agent do what nobody asked for.
 */

/** Blocks that only agents write, anywhere in a text. */
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
  'session-start-hook',
  'post-tool-use-hook',
  'new-diagnostics',
  'ide_opened_file',
  'ide_selection',
  'ide_diagnostics',
  'environment_details',
  'environment_context',
  'user_instructions',
  'collaboration_mode',
  'turn_aborted',
  'task-notification',
  'teammate-message',
  'system_instruction',
  'system-instruction',
  'system_notification',
  'function_results',
]
/** Blocks that agents insert only into user messages; elsewhere such tags mean something else. */
const USER_BLOCKS = [
  'permissions instructions',
  'user_shell_command',
  'skill',
  'skills_instructions',
  'user_info',
  'user_rules',
  'rules',
  'project_layout',
  'git_status',
  'attached_files',
  'additional_data',
  'open_and_recently_viewed_files',
  'manually_attached_skills',
  'cursor_commands',
  'explicit_instructions',
  'file',
  'file_content',
  'folder_content',
  'editorContext',
  'workspace_info',
  'environment_info',
  'reminderInstructions',
  'reminder',
  'attachments',
  'attachment',
  'session_context',
  'additional_metadata',
  'uploaded_files',
]

/** The opening tag of one of several blocks. */
const openingOf = (names: readonly string[]) => new RegExp(`<(${names.join('|')})(?:\\s[^<>]{0,400})?>`, 'gi')
const OPENING = openingOf(BLOCKS)
const USER_OPENING = openingOf(USER_BLOCKS)

/** A text without inserted blocks. An unclosed one extends to the end. */
export function withoutInjected(text: string): string {
  return withoutBlocks(text, OPENING, true)
}

/** A user's message without inserted blocks. */
export function withoutUserBlocks(text: string): string {
  return withoutBlocks(withoutInjected(text), USER_OPENING, false)
}

function withoutBlocks(text: string, opening: RegExp, endsUnclosed: boolean): string {
  if (!text.includes('<')) return text
  const closings = new Map<string, (from: number) => number>()
  const kept: string[] = []
  let from = 0
  opening.lastIndex = 0
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    const name = found[1]?.toLowerCase() ?? ''
    const closing = closings.get(name) ?? closingIn(text, name)
    closings.set(name, closing)
    const end = closing(opening.lastIndex)
    if (end < 0 && !endsUnclosed) continue
    kept.push(text.slice(from, found.index))
    from = end < 0 ? text.length : end
    opening.lastIndex = from
  }
  kept.push(text.slice(from))
  return kept.join('')
}

/** Finds the end of the next closing tag; once the search fails, it is not repeated. */
function closingIn(text: string, name: string): (from: number) => number {
  const closing = new RegExp(`</${name}>`, 'gi')
  let isGone = false
  return (from) => {
    if (isGone) return -1
    closing.lastIndex = from
    isGone = closing.exec(text) === null
    return isGone ? -1 : closing.lastIndex
  }
}

/** A user's slash command, with its arguments. */
export interface SlashCommand {
  /** With its slash. */
  readonly name: string
  readonly words: string
}

const NAME = /<command-name>\s*\/?([\w:.-]{1,80})\s*<\/command-name>/
const WORDS = /<command-args>([\s\S]{0,4000}?)<\/command-args>/

/** The slash command in a message; null for any other message. */
export function slashCommandIn(text: string): SlashCommand | null {
  const name = NAME.exec(text.slice(0, 8_000))?.[1]
  return name === undefined ? null : { name: `/${name}`, words: WORDS.exec(text)?.[1]?.trim() ?? '' }
}
