import { connect } from '@heddle/client'

const databaseUrl = process.env['DATABASE_URL']
if (databaseUrl === undefined) throw new Error('DATABASE_URL is not set')

await using heddle = await connect({ databaseUrl })
const stored = await heddle.messages.append({
  agent: 'coder',
  newAgentRollingWindow: null,
  thread: 'installed-engine',
  messages: [{ role: 'user', content: 'The login fails.' }],
})
const { messages } = await heddle.contexts.build({ thread: 'installed-engine', budget: 4_000, format: 'anthropic' })
if (!JSON.stringify(messages).includes('The login fails.')) throw new Error('the context does not show the message')
// An operation of only the client inside the network.
const letters: number = (await heddle.deadLetters.list()).length
process.stdout.write(`${JSON.stringify({ stored: stored.stored, deadLetters: letters })}\n`)
