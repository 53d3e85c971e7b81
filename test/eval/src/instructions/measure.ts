import { lastingInstructions } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { labelledThreads } from '../goals/threads.js'
import { conversationKinds } from '../search/conversation.js'
import { readConversations } from '../search/read.js'
import { instructions, others } from './labels.js'

/** How many of the messages that the rules take for lasting instructions are some, and how many of those they find. */
export async function measureInstructions(dataDir: string): Promise<Measured[]> {
  const texts = await labelledTexts(dataDir)
  const found = (ids: readonly string[]) =>
    ids.filter((id) => {
      const text = texts.get(id)
      if (text === undefined) throw new Error(`the conversations lack the labelled message ${id}`)
      return lastingInstructions(text).length > 0
    })
  const [right, wrong] = [found(instructions), found(others)]
  const note = `${instructions.length + others.length} labelled messages; wrong: ${wrong.join(', ') || 'none'}`
  return [
    {
      name: 'instructions.precision',
      value: right.length / (right.length + wrong.length),
      unit: 'share',
      target: '>= 0.8',
      note,
    },
    { name: 'instructions.recall', value: right.length / instructions.length, unit: 'share', note },
  ]
}

/** The texts of the conversations by the ids in the labels. */
async function labelledTexts(dataDir: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const kind of conversationKinds) {
    for (const { agent, threads } of await readConversations(dataDir, kind)) {
      const name = agent.split(' ').at(-1) ?? ''
      for (const { sourceId, content } of threads.flatMap(({ messages }) => messages)) {
        texts.set(`${kind} ${name}#${sourceId}`, content)
      }
    }
  }
  for (const [thread, messages] of await labelledThreads(dataDir)) {
    const [kind, name] = thread.split('-')
    if (kind === 'tau')
      for (const [index, { content }] of messages.entries()) texts.set(`tau ${name}#${index}`, content)
  }
  return texts
}
