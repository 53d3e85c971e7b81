import { connect, HeddleError } from '@heddle/client'
import { createClient } from '@heddle/client/http'

// The address and the key come from the environment, as they do for the commands.
await using heddle = await connect()
const stored = await heddle.messages.append({
  agent: 'coder',
  newAgentRollingWindow: null,
  thread: 'installed-client',
  messages: [{ role: 'user', content: 'The login fails.' }],
})
const context = await heddle.contexts.build({ thread: 'installed-client', budget: 4_000, format: 'openai-chat' })
const texts: (string | null)[] = context.messages.map(({ content }) => (typeof content === 'string' ? content : null))
if (!texts.includes('The login fails.')) throw new Error(`the context shows ${JSON.stringify(texts)}`)

const url = process.env['HEDDLE_URL'] ?? ''
const page = await createClient({ url }).threads.list()
const refused: unknown = await heddle.contexts.get('no-such-context').catch((error: unknown) => error)
if (!(refused instanceof HeddleError)) throw new Error(`not refused, but ${String(refused)}`)

// A package that is not installed is not faked.
const missing: unknown = await connect({ databaseUrl: 'postgres://127.0.0.1:1/none' }).catch((error: unknown) => error)
if (!(missing instanceof HeddleError) || missing.hint?.startsWith('npm install @heddle/engine') !== true) {
  throw new Error(`expected an error that says what to install: ${String(missing)}`)
}
process.stdout.write(`${JSON.stringify({ stored: stored.stored, threads: page.items.length, code: refused.code })}\n`)
