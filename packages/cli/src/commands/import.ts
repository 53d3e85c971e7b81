import type { RemoteClient } from '@heddle/client/http'
import { keepHeapSmall } from '@heddle/runtime'
import type { Command } from 'commander'
import type { CommandContext } from '../connect/context.js'
import { configOf } from '../connect/context.js'
import { refusePaused } from '../connect/paused.js'
import { untilStopped, withEngine } from '../connect/with-engine.js'
import { remoteClientOf, withUrlOption } from '../connect/with-remote.js'
import { type FailedImport, failedLines, unreadable } from '../importing/failed.js'
import type { ImportedThread } from '../importing/imported-thread.js'
import { importedLines, sendFiles } from '../importing/send.js'
import type { ImportOptions } from '../options/import-options.js'
import { nameOption, rollingWindowOption, withCommonOptions } from '../options/options.js'
import { sessionFormatNames, sessionFormatOption } from '../options/session-formats.js'
import { exitCodes } from '../output/failure.js'
import { printWarnings } from '../output/warnings.js'
import { followFolders } from './import-watch.js'
import { settleThreads } from './threads/settle.js'

export function registerImport(program: Command, context: CommandContext): void {
  const command = program
    .command('import')
    .description('import recorded sessions into threads; importing again stores no duplicates')
    .argument('<file...>', 'session files; with --watch, the folders in which an agent writes them')
    .requiredOption(
      '--agent <name>',
      'the agent that they belong to; created if it does not exist',
      nameOption('agent'),
    )
    .option('--thread <name>', 'the thread (default: the name of the file without extension)', nameOption('thread'))
    .option('--format <name>', sessionFormatNames.join(', '), sessionFormatOption, 'auto' as const)
    .option(
      '--rolling-window <seconds>',
      'rolling window of a new agent, or none (default none, because recorded sessions are old)',
      rollingWindowOption,
    )
    .option('--watch', 'follow the sessions in these folders as they are written, until Ctrl-C')
  withCommonOptions(withUrlOption(command), [
    'heddle import ~/.claude/projects/app/session.jsonl --agent coder',
    'heddle import runs.json --agent airline --thread airline --format openai',
    'heddle import *.traj --agent fixer --json',
    'heddle import --watch ~/.claude/projects/app --agent coder',
    'heddle import --watch ~/.codex/sessions --agent coder --json',
  ])
    .addHelpText(
      'after',
      '\nAll files are read and checked before anything is sent. A file that cannot be read or stored is reported at the end and\ndoes not stop the others. /dev/stdin reads standard input. A file with several sessions becomes the threads NAME-1,\nNAME-2 ..., or NAME-ID if its sessions have ids.\n\nWith --watch, *.jsonl files in the folders and their subfolders are sessions, also those that appear later. Existing\nsessions are imported first. With --json each event is one line. Started again, it goes on where it was: nothing is stored twice.',
    )
    .action((files: string[], options: ImportOptions) =>
      options.watch === true ? followFolders(context, files, options) : importFiles(context, files, options),
    )
}

async function importFiles(context: CommandContext, files: readonly string[], options: ImportOptions): Promise<void> {
  const config = configOf(context, options)
  // Everything read from a file soon becomes garbage; without this, V8 lets the heap grow instead of collecting it.
  keepHeapSmall()
  const { planFiles } = await import('../importing/plan.js')
  const unread: FailedImport[] = []
  const reading = context.printer.progress('files read', files.length)
  const planning = planFiles(files, {
    cwd: context.cwd,
    ...(files.length > 1 && { onUnreadable: (file, error) => void unread.push(unreadable(file, error)) }),
    onRead: (count) => reading.update(count),
    signal: context.signal,
    project: config.project,
    format: options.format,
    thread: options.thread,
  })
  const plan = await untilStopped(context.signal, planning).finally(() => reading.stop())
  try {
    const { gatewayDestination, storeDestination } = await import('../importing/destination.js')
    const sending = {
      agent: options.agent,
      newAgentRollingWindow: typeof options.rollingWindow === 'number' ? options.rollingWindow : null,
    }
    const print = async (
      { agents }: Pick<RemoteClient, 'agents'>,
      sent: Awaited<ReturnType<typeof sendFiles>>,
      told: { project?: string; settled: boolean | null },
    ) => {
      const { imported } = sent
      const failed = [...unread, ...sent.failed]
      if (failed.length > 0) context.setExitCode(exitCodes.error)
      const document = {
        ...told,
        agent: options.agent,
        threads: imported,
        failed,
        stored: imported.reduce((sum, thread) => sum + thread.stored, 0),
        repeated: imported.reduce((sum, thread) => sum + thread.repeated, 0),
        warnings: [...warningsOf(imported), ...(await windowNotTaken(agents, options))],
      }
      context.printer.result(document, () => [
        ...(imported.length === 0 ? [] : importedLines(imported)),
        ...(failed.length === 0 ? [] : ['', ...failedLines(failed)]),
      ])
      printWarnings(context.printer, document.warnings)
    }
    const remote = await remoteClientOf(context, options)
    if (remote !== null) {
      const { projectIdOf } = await import('@heddle/core')
      const sent = sendFiles(context, gatewayDestination(remote, projectIdOf(config.project)), plan.files, sending)
      // The key determines the project, and the workers run elsewhere.
      return await print(remote, await untilStopped(context.signal, sent), { settled: null })
    }
    const stages = ['ingest', 'prune', 'summarize', 'embed', 'remember'] as const
    await withEngine(context, options, { stages }, async (engine) => {
      await refusePaused(engine, 'ingest')
      const sent = await sendFiles(context, storeDestination(engine), plan.files, sending)
      // Workers of this command end with it, so it waits for the work that other workers would do later.
      const threads = sent.imported.map(({ thread }) => thread)
      const settled =
        engine.workersHere.length === 0 ? null : await settleThreads(context, engine, threads, 'everything')
      await print(engine.client, sent, { project: config.project, settled })
    })
  } finally {
    await plan.remove()
  }
}

function warningsOf(imported: readonly ImportedThread[]): string[] {
  return imported.flatMap(({ thread, warnings }) => warnings.map((warning) => `thread "${thread}": ${warning}`))
}

/** `--rolling-window` applies to new agents only; an existing agent keeps its setting. */
async function windowNotTaken(
  agents: RemoteClient['agents'],
  { agent, rollingWindow }: ImportOptions,
): Promise<string[]> {
  if (rollingWindow === undefined) return []
  const { settings } = await agents.get(agent)
  if (settings.rollingWindow === (rollingWindow === 'none' ? null : rollingWindow)) return []
  const command = `heddle settings set rollingWindow ${rollingWindow} --agent NAME`
  return [
    `--rolling-window was ignored: it applies to new agents, and "${agent}" exists already; ${command} changes it`,
  ]
}
