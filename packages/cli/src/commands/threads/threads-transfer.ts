import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { limits, PermanentError } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { fileError } from '../../importing/read-file.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { writeWholeFile } from '../../output/whole-file.js'

interface ExportOptions extends CommonOptions, UrlOptions {
  readonly out?: string
}

interface ImportOptions extends CommonOptions, UrlOptions {
  readonly as?: string
}

export function registerThreadsTransfer(group: Command, context: CommandContext): void {
  const exporting = group
    .command('export')
    .description('write a thread with its archive, compactions and prunings as JSON lines, without loss')
    .argument('<name>', 'the thread', nameOption('thread'))
    .option('--out <file>', 'the file to write, replaced once the export is complete (default: standard output)')
  withCommonOptions(withUrlOption(exporting), [
    'heddle threads export session --out session.heddle.jsonl',
    'heddle threads export session | gzip > session.heddle.jsonl.gz',
  ]).action((name: string, options: ExportOptions) => exportThread(context, name, options))

  const importing = group
    .command('import')
    .description('import an exported thread; importing again adds nothing')
    .argument('<file>', 'a file that heddle threads export wrote')
    .option('--as <name>', 'name of the imported thread (default: its original name)', nameOption('as'))
  withCommonOptions(withUrlOption(importing), [
    'heddle threads import session.heddle.jsonl',
    'heddle threads import session.heddle.jsonl --as session-copy --project other',
  ])
    .addHelpText(
      'after',
      '\nThe whole file is checked before anything is stored. For recorded sessions of agents: heddle import.',
    )
    .action((file: string, options: ImportOptions) => importThread(context, file, options))
}

async function exportThread(context: CommandContext, name: string, options: ExportOptions): Promise<void> {
  await withRemote(context, options, null, async ({ threads }) => {
    const lines = threads.export(name)
    if (options.out === undefined) return await context.printer.stream(lines)
    const out = resolve(context.cwd, options.out)
    let records = 0
    async function* counted() {
      for await (const line of lines) {
        records++
        yield line
      }
    }
    const bytes = await writeWholeFile(out, counted(), { signal: context.signal })
    context.printer.result({ thread: name, file: out, records, bytes }, () => [
      `${formatCount(records)} records of ${safeText(name)}, ${formatCount(bytes)} bytes, in ${safeText(options.out ?? '')}`,
    ])
  })
}

async function importThread(context: CommandContext, file: string, options: ImportOptions): Promise<void> {
  const path = resolve(context.cwd, file)
  const details = { field: 'file', received: file }
  const found = await stat(path).catch((error: unknown) => Promise.reject(fileError(path, error, details)))
  // The file is read twice, which a pipe does not allow.
  if (!found.isFile()) {
    throw new PermanentError('VALIDATION_ERROR', `file: ${path} must be a regular file`, {
      ...details,
      hint: 'Write the export into a file, and import that.',
    })
  }
  await withRemote(context, options, null, async ({ threads }) => {
    const imported = await threads.import(() => linesOf(path, context.signal), {
      as: options.as,
    })
    const rows = Object.entries(imported.added).filter(([, count]) => count > 0)
    context.printer.result(imported, () => [
      `thread ${safeText(imported.thread)} · agent ${safeText(imported.agent)} · ${formatCount(imported.messages)} messages`,
      rows.length === 0
        ? 'nothing new: everything was stored already'
        : `added ${rows.map(([type, count]) => `${formatCount(count)} ${type}`).join(', ')}`,
    ])
  })
}

/** The lines of a file, one at a time; memory holds one line and the chunk that was read ahead. */
async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let parts: Buffer[] = []
  let size = 0
  const take = () => {
    const line = decoder.decode(Buffer.concat(parts))
    parts = []
    size = 0
    return line
  }
  try {
    for await (const chunk of createReadStream(path, { signal, highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        parts.push(chunk.subarray(from, end))
        yield take()
        from = end + 1
      }
      parts.push(chunk.subarray(from))
      size += chunk.length - from
      if (size > limits.exportLineBytesMax) {
        throw new PermanentError(
          'PAYLOAD_TOO_LARGE',
          `${path}: a line has more than ${limits.exportLineBytesMax} bytes`,
          {
            field: 'file',
            received: path,
            hint: 'Give a file that heddle threads export wrote: its lines are shorter.',
          },
        )
      }
    }
    if (size > 0) yield take()
  } catch (error) {
    throw fileError(path, error, { field: 'file', received: path })
  }
}
