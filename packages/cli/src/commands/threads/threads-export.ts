import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { withStore } from '../../connect/with-engine.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { writeWholeFile } from '../../output/whole-file.js'

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
    let records = 0
    async function* counted() {
      for await (const line of lines) {
        records++
        yield line
      }
    }
    const bytes = await writeWholeFile(out, counted(), context.signal)
    context.printer.result({ thread: name, file: out, records, bytes }, () => [
      `${formatCount(records)} records of ${safeText(name)}, ${formatCount(bytes)} bytes, in ${safeText(options.out ?? '')}`,
    ])
  })
}
