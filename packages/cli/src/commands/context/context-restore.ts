import { idSchema, PermanentError, parse, type SnapshotFile, snapshotFileBodySchema } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { readWholeFile } from '../../importing/read-file.js'
import { optionValue } from '../../options/option-values.js'
import { nameOption } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'
import { clientCommand } from '../declared.js'

interface RestoreOptions extends CommonOptions {
  readonly file?: string
  readonly agent?: string
}

const snapshotOption = optionValue('snapshot', idSchema, 'Give an id that "heddle context history" shows.')

/** Restores a stored snapshot by its id, or one from its file. */
export function registerContextRestore(group: Command, context: CommandContext): void {
  clientCommand(group, context, {
    name: 'restore',
    description:
      'bring the messages of a snapshot back into the windows of their threads; visible ones are not repeated',
    arguments: [['[id]', 'the id that "context save" printed; or --file', snapshotOption]],
    options: (command) =>
      command
        .option('--file <path>', 'the file of a snapshot, also of another installation')
        .option('--agent <name>', 'with --file: the agent that gets the messages', nameOption('agent')),
    examples: [
      'heddle context restore 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1',
      'heddle context restore 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1 --json',
      'heddle context restore --file sessions/2026-02-12T14-30-00Z_auth_c1f1d0a1.json --agent coder',
    ],
    check: ({ file, agent }: RestoreOptions, id: string | undefined) => {
      if ((id === undefined) === (file === undefined))
        throw new UsageError('id', 'or --file is needed, and not both', undefined, 'See "heddle context history".')
      if ((file === undefined) !== (agent === undefined))
        throw new UsageError('agent', 'is needed with --file, and only with it', undefined, 'A file names no agent.')
    },
    needs: { stages: ['ingest'] },
    load: async ({ snapshots }, { file, agent }: RestoreOptions, id: string | undefined) =>
      file === undefined || agent === undefined
        ? await snapshots.restore(id ?? '', { signal: context.signal })
        : await snapshots.restoreFile(agent, await readSnapshotFile(file), { signal: context.signal }),
    lines: ({ restored, messages, agent, present, erased, threads }) => [
      `restored ${formatCount(restored)} of ${formatCount(messages)} messages of agent ${safeText(agent)}`,
      ...(present > 0 ? [`${formatCount(present)} are in the window already`] : []),
      ...(erased > 0 ? [`${formatCount(erased)} were erased and cannot be restored`] : []),
      `threads: ${threads.map((thread) => safeText(thread)).join(', ') || 'none left'}`,
    ],
  })
}

/** @throws PermanentError that names the file */
async function readSnapshotFile(path: string): Promise<SnapshotFile> {
  const text = await readWholeFile(path)
  return parse(snapshotFileBodySchema, jsonOf(path, text), 'file')
}

function jsonOf(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PermanentError('VALIDATION_ERROR', `file: ${path} is not JSON`, {
      field: 'file',
      received: path,
      hint: 'Name a file of the sessions folder, or the answer of GET /v1/snapshots/:snapshot.',
      cause,
    })
  }
}
