import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { RemoteClient } from '@heddle/client/http'
import { describeReceived, HeddleError, nameSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'

interface SetOptions extends CommonOptions, UrlOptions {
  readonly prompt?: string
  readonly promptFile?: string
  readonly doc?: NamedFile[]
  readonly removeDoc?: string[]
}

interface NamedFile {
  readonly name: string
  readonly path: string
}

type Docs = { readonly name: string; readonly text: string }[]

export function registerAgentsSet(group: Command, context: CommandContext): void {
  const set = group
    .command('set')
    .description('create an agent, or change its prompt and docs; options that are not given change nothing')
    .argument('<name>', 'the agent', nameOption('agent'))
    .option('--prompt <text>', 'its system prompt; an empty text removes it')
    .option('--prompt-file <path>', 'file that contains its system prompt')
    .option('--doc <name=path>', 'a doc and the file that contains it; may be repeated', docOption)
    .option('--remove-doc <name>', 'a doc to remove; may be repeated', collected)
  withCommonOptions(withUrlOption(set), [
    'heddle agents set coder --prompt "You write code."',
    'heddle agents set coder --prompt-file prompt.md --doc style=docs/style.md',
    'heddle agents set coder --remove-doc style --json',
  ])
    .addHelpText(
      'after',
      '\nFor its settings: heddle settings set. For its rules, references and tools: heddle items set.',
    )
    .action((name: string, options: SetOptions) => setAgent(context, name, options))
}

function collected(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

/** `style=docs/style.md`, or a path alone: then the doc is named after the file. */
function docOption(text: string, before: readonly NamedFile[] = []): NamedFile[] {
  const [, name, path = text] = /^([^=]*)=(.+)$/s.exec(text) ?? []
  const result = nameSchema.safeParse(name ?? basename(path))
  if (result.success) return [...before, { name: result.data, path }]
  const hint = 'Give a name and a file, such as --doc style=docs/style.md.'
  throw new UsageError('doc', 'must be a name and a path', describeReceived(text), hint)
}

async function setAgent(context: CommandContext, name: string, options: SetOptions): Promise<void> {
  const { prompt, promptFile, doc = [], removeDoc = [] } = options
  if (prompt !== undefined && promptFile !== undefined) {
    throw new UsageError('prompt-file', 'cannot be combined with --prompt', promptFile, 'Give the text or its file.')
  }
  const textOf = (field: string, path: string) => readText(field, resolve(context.cwd, path))
  const systemPrompt = promptFile === undefined ? prompt : await textOf('prompt-file', promptFile)
  const docs = await Promise.all(doc.map(async ({ name, path }) => ({ name, text: await textOf('doc', path) })))
  await withRemote(context, options, null, async (client) => {
    const isAboutDocs = docs.length + removeDoc.length > 0
    const agent = await client.agents.put(name, {
      systemPrompt,
      ...(isAboutDocs && { docs: changed(await docsOf(client, name), docs, removeDoc) }),
    })
    context.printer.result(agent, () => [
      `agent ${safeText(agent.name)} · version ${agent.version}`,
      `system prompt: ${formatCount(agent.systemPrompt.length)} characters`,
      `docs: ${agent.docs.map((each) => safeText(each.name)).join(', ') || 'none'}`,
    ])
  })
}

async function docsOf({ agents }: RemoteClient, name: string): Promise<Docs> {
  try {
    return [...(await agents.get(name)).docs]
  } catch (error) {
    if (error instanceof HeddleError && error.code === 'NOT_FOUND') return []
    throw error
  }
}

/** Existing docs keep their position. */
function changed(before: Docs, given: Docs, removed: readonly string[]): Docs {
  const docs = new Map(before.map((doc) => [doc.name, doc]))
  for (const doc of given) docs.set(doc.name, doc)
  for (const name of removed) {
    if (docs.delete(name)) continue
    const names = [...docs.keys()].join(', ') || 'none'
    throw new UsageError(
      'remove-doc',
      'is not a doc of this agent',
      describeReceived(name),
      `It has: ${safeText(names)}.`,
    )
  }
  return [...docs.values()]
}

async function readText(field: string, path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const rule = `cannot be read: ${error.code ?? error.message}`
    throw new UsageError(field, rule, path, 'Give the path of a text file.')
  })
}
