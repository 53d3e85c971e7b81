export type { ChatClient } from './client.js'
export { answerChatCommand, type ChatCommand } from './commands.js'
export type { ChatField, ChatReply } from './reply.js'
