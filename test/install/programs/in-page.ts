import { createClient, HeddleError } from '@heddle/client/http'

/* Runs in a browser: the page that this is bundled into reads `document.title` off it. */

interface Page {
  title: string
}
declare const document: Page
declare const location: { readonly origin: string }

const heddle = createClient({ url: location.origin })
try {
  await heddle.messages.append({
    agent: 'coder',
    newAgentRollingWindow: null,
    thread: 'installed-page',
    messages: [{ role: 'user', content: 'From a page.' }],
  })
  const { messages } = await heddle.contexts.build({ thread: 'installed-page', budget: 4_000, format: 'openai-chat' })
  const refused: unknown = await heddle.contexts.get('no-such-context').catch((error: unknown) => error)
  document.title = JSON.stringify({ messages, refusedByType: refused instanceof HeddleError })
} catch (error) {
  document.title = JSON.stringify({ failed: String(error) })
}
