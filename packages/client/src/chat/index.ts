export { answerChatCommand, type ChatClient, type ChatCommand } from './commands.js'
export type { ChatField, ChatReply } from './reply.js'
