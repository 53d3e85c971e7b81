import { nameSchema, type PermanentError, parse, validationError } from '@heddle/contracts'
import type { ChatClient } from './client.js'
import { clearCommand, historyCommand, restoreCommand, saveCommand } from './context-commands.js'
import { type ChatReply, chatRefusal, noAgentHere } from './reply.js'
import { settingsCommand } from './settings-command.js'

export interface ChatCommand {
  /** The agent of the command's channel; null without one. */
  readonly agent: string | null
  /** The whole line, such as `/context save before the refactoring`. */
  readonly text: string
}

type Answer = (client: ChatClient, agent: string, rest: string) => Promise<ChatReply>

const commands: Readonly<Record<string, Answer>> = {
  'context clear': clearCommand,
  'context save': saveCommand,
  'context history': historyCommand,
  'context restore': restoreCommand,
  settings: settingsCommand,
}

const USAGE = [
  '/context clear',
  '/context save [description]',
  '/context history [agent]',
  '/context restore <snapshot id>',
  '/settings [page]',
  '/settings <name> [value]',
].join('\n')

/**
 * Runs the commands of a chat bot's users (docs/chat.md): `/context clear | save | history | restore` and `/settings`. The bot
 * renders the reply.
 *
 * @returns null for any other line
 * @throws errors that the user cannot correct, such as a broken connection; all others are replies with their `code`
 */
export async function answerChatCommand(client: ChatClient, command: ChatCommand): Promise<ChatReply | null> {
  const [, name, given = ''] = /^\/(context|settings)(?:\s+([\s\S]*))?$/.exec(command.text.trim()) ?? []
  if (name === undefined) return null
  const [, verb = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(given) ?? []
  const answer = name === 'settings' ? commands[name] : ownValue(commands, `context ${verb}`)
  try {
    if (answer === undefined) throw unknownCommand(verb)
    if (command.agent === null) return noAgentHere()
    return await answer(client, parse(nameSchema, command.agent, 'agent'), name === 'settings' ? given : rest)
  } catch (error) {
    return chatRefusal(error)
  }
}

function ownValue(answers: typeof commands, name: string): Answer | undefined {
  return Object.hasOwn(answers, name) ? answers[name] : undefined
}

function unknownCommand(verb: string): PermanentError {
  return validationError('command', 'must be one of these', verb, USAGE)
}
