import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { PermanentError } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { withStore } from '../../connect/with-engine.js'
import { fileError } from '../../importing/read-file.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'

interface ExportOptions extends CommonOptions {
  readonly out?: string
}

export function registerThreadsExport(group: Command, context: CommandContext): void {
  const command = group
    .command('export')
    .description('write a thread with its archive, compactions and prunings as JSON lines, losing nothing')
    .argument('<name>', 'the thread', nameOption('thread'))
    .option('--out <file>', 'the file to write; it is replaced when the export is whole (default: standard output)')
  withCommonOptions(command, [
    'heddle threads export session --out session.heddle.jsonl',
    'heddle threads export session | gzip > session.heddle.jsonl.gz',
  ]).action((name: string, options: ExportOptions) => exportThread(context, name, options))
}

async function exportThread(context: CommandContext, name: string, options: ExportOptions): Promise<void> {
  await withStore(context, options, async ({ client }) => {
    const lines = client.threads.export(name)
    if (options.out === undefined) return await context.printer.stream(lines)
    const out = resolve(context.cwd, options.out)
    const { records, bytes } = await writeWhole(out, lines, context.signal)
    context.printer.result({ thread: name, file: out, records, bytes }, () => [
      `${formatCount(records)} records of ${safeText(name)}, ${formatCount(bytes)} bytes, in ${safeText(options.out ?? '')}`,
    ])
  })
}

/** A file that is there under its name is whole: until then it has another one, and it goes away if the export fails. */
async function writeWhole(
  path: string,
  lines: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<{ records: number; bytes: number }> {
  const partial = `${path}.${process.pid}.partial`
  let [records, bytes] = [0, 0]
  async function* counted() {
    for await (const line of lines) {
      records++
      bytes += Buffer.byteLength(line)
      yield line
    }
  }
  try {
    await pipeline(Readable.from(counted(), { objectMode: true, highWaterMark: 16 }), createWriteStream(partial), {
      signal,
    })
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      const details = {
        field: 'out',
        received: path,
        hint: `Make the folder first: mkdir -p ${dirname(path)}`,
        cause: error,
      }
      throw new PermanentError('NOT_FOUND', `out: the folder of ${path} does not exist`, details)
    }
    throw fileError(path, error, { field: 'out', received: path })
  }
  return { records, bytes }
}
