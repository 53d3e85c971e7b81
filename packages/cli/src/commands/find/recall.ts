import { resolve } from 'node:path'
import {
  type ArchiveKind,
  addressNote,
  limits,
  PermanentError,
  type RecallResult,
  recallRequestSchema,
  type SearchLegs,
  searchLegs,
} from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { oneOf, optionValue } from '../../options/option-values.js'
import {
  archiveKindsOption,
  cursorOption,
  limitOption,
  linesOption,
  maxTokensOption,
  momentOption,
  nameOption,
  withCommonOptions,
} from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { writeWholeFile } from '../../output/whole-file.js'
import { archiveLines, searchLines } from './archive-view.js'

interface RecallOptions extends CommonOptions, UrlOptions {
  readonly thread?: string
  readonly lines?: string
  readonly search?: string
  readonly maxTokens?: number
  readonly out?: string
}

interface SelectOptions extends RecallOptions {
  readonly agent?: string
  readonly kind?: ArchiveKind[]
  readonly tool?: string
  readonly path?: string
  readonly failed?: true
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly cursor?: string
  readonly by?: SearchLegs
}

export function registerRecall(program: Command, context: CommandContext): void {
  const recall = program
    .command('recall')
    .description('return condensed content byte for byte; without a reference, list or search the archive')
    .argument(
      '[reference]',
      'a reference such as msg-1a2b3c4d, [recall:msg-1a2b3c4d] or nexora://project/thread/msg-1a2b3c4d',
    )
    .option(
      '--thread <name>',
      'the thread of a short reference; without a reference, only this thread',
      nameOption('thread'),
    )
    .option('--lines <from-to>', 'only these lines, counted from 1', linesOption)
    .option(
      '--search <text>',
      'only lines that contain this text; without a reference, search the archive for it, best match first',
      optionValue('search', recallRequestSchema.shape.search.unwrap(), 'Give a shorter text.'),
    )
    .option('--max-tokens <count>', 'cut after this many tokens', maxTokensOption)
    .option(
      '--out <file>',
      'write it to this file; for a reference such as msg-1a2b3c4d:part-1, the image or file itself',
    )
    .optionsGroup('Without a reference:')
    .option('--agent <name>', 'only threads of this agent', nameOption('agent'))
    .option(
      '--kind <name>',
      'only file_view, grep, bash, edit, assistant or other; may be repeated',
      archiveKindsOption,
    )
    .option('--tool <name>', 'only results of this tool')
    .option('--path <path>', 'only this file, or files in this folder')
    .option('--failed', 'only failures')
    .option('--since <moment>', 'only since then: how long ago, such as 1h, or a time', momentOption('since'))
    .option('--until <moment>', 'only before then', momentOption('until'))
    .option('--limit <count>', 'rows per page', limitOption)
    .addOption(cursorOption())
    .option('--by <legs>', `with --search: ${searchLegs.join(', ')} (default both)`, oneOf('by', searchLegs))
  withCommonOptions(withUrlOption(recall.optionsGroup('Options:')), [
    'heddle recall msg-1a2b3c4d --thread session',
    'heddle recall nexora://default/session/msg-1a2b3c4d --lines 10-50',
    'heddle recall msg-1a2b3c4d:part-1 --thread session --out screenshot.png',
    'heddle recall --thread session --kind file_view --since 1h',
    'heddle recall --agent coder --kind bash --failed',
    'heddle recall --agent coder --search "connection refused"',
    'heddle recall --agent coder --search "why the port was taken" --kind bash --since 1d --by meaning',
  ])
    .addHelpText('after', `\n${addressNote}.`)
    .action((reference: string | undefined, options: SelectOptions) =>
      reference === undefined ? selectContents(context, options) : recallContent(context, reference, options),
    )
}

async function recallContent(context: CommandContext, reference: string, options: SelectOptions): Promise<void> {
  refuse(options, ['agent', 'kind', 'tool', 'path', 'failed', 'since', 'until', 'limit', 'cursor', 'by'], {
    rule: 'cannot be combined with a reference',
    hint: 'Omit the reference to list the archive, or omit this option to recall one entry.',
  })
  const { thread, lines, search, maxTokens } = options
  await withRemote(context, options, null, async (client) => {
    const recalled = await client.recall({
      ref: reference,
      thread,
      lines,
      search,
      // People and programs want the whole content; the client's own limit is meant for models.
      maxTokens: maxTokens ?? limits.budgetTokensMax,
    })
    if (recalled.matchCount === 0) context.printer.note('no line contains this text')
    if (recalled.truncated) {
      const lines = formatCount(recalled.linesTotal)
      context.printer.note(`cut by --max-tokens; total lines: ${lines}. Give a larger --max-tokens, or --lines`)
    }
    if (recalled.part?.data !== undefined && options.out === undefined)
      context.printer.note('--out writes its bytes to a file')
    if (options.out !== undefined) return await writeRecalled(context, options.out, recalled)
    context.printer.exact(recalled.content, safeText(recalled.content), recalled)
  })
}

/** Writes recalled content to a file: the bytes of an image or a file, otherwise the text. */
async function writeRecalled(context: CommandContext, out: string, recalled: RecallResult): Promise<void> {
  const { part, content, ref } = recalled
  const address = part?.url ?? part?.fileId
  if (address !== undefined) {
    throw new PermanentError(
      'VALIDATION_ERROR',
      `out: there are no bytes: the message has only the address ${address}`,
      {
        field: 'out',
        received: out,
        hint: 'Recall it without --out to see the address. Heddle does not download it.',
      },
    )
  }
  const bytes = part?.data === undefined ? Buffer.from(content) : Buffer.from(part.data, 'base64')
  const path = resolve(context.cwd, out)
  await writeWholeFile(path, [bytes], { signal: context.signal })
  const written = { ref, file: path, bytes: bytes.length, ...(part !== undefined && { mediaType: part.mediaType }) }
  context.printer.result(written, () => [`${formatCount(bytes.length)} bytes of ${safeText(ref)} in ${safeText(out)}`])
}

async function selectContents(context: CommandContext, options: SelectOptions): Promise<void> {
  refuse(options, ['lines', 'maxTokens', 'out'], {
    rule: 'needs a reference',
    hint: 'Give a reference, such as heddle recall msg-1a2b3c4d --lines 10-50.',
  })
  const { agent, thread, kind, tool, path, failed, since, until, limit, cursor, search, by } = options
  const selection = {
    agent,
    thread,
    kinds: kind,
    tool,
    path,
    failed,
    since,
    until,
    limit,
  }
  if (search !== undefined) {
    refuse(options, ['cursor'], {
      rule: 'cannot be combined with --search',
      hint: 'A search gives the best --limit results.',
    })
    return await withRemote(context, options, null, async (client) => {
      const found = await client.archive.search({ ...selection, query: search, by })
      context.printer.result(found, () => searchLines(found))
    })
  }
  refuse(options, ['by'], { rule: 'needs --search', hint: 'Add --search TEXT, or omit this option.' })
  await withRemote(context, options, null, async (client) => {
    const page = await client.archive.list({ ...selection, cursor })
    context.printer.result(page, () => archiveLines(page))
  })
}

/** @throws UsageError if one of `names` is given */
function refuse(
  options: SelectOptions,
  names: readonly (keyof SelectOptions)[],
  { rule, hint }: { rule: string; hint: string },
): void {
  const given = names.find((name) => options[name] !== undefined)
  if (given === undefined) return
  const field = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new UsageError(field, rule, String(options[given]), hint)
}
