import type { Scaling, StageBacklog, StageName } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { formatDuration, type ItemColumn, itemTable } from '../../output/table.js'
import { clientCommand } from '../declared.js'

export function registerScaling(program: Command, context: CommandContext): void {
  clientCommand(program, context, {
    name: 'scaling',
    description: 'show backlog and oldest wait of every stage, the figures that autoscalers of worker pools read',
    examples: ['heddle scaling', 'heddle scaling --url https://heddle.example.com --json'],
    notes:
      'The backlog is everything that a worker could fetch: waiting jobs, those with a priority and delayed ones that are due.\nFor a paused stage "scale by" is 0, since more workers would fetch nothing.',
    needs: { stages: [] },
    load: (client) => client.stages.scaling(),
    lines: ({ stages }: Scaling) =>
      itemTable(
        Object.entries(stages).map(([stage, backlog]) => ({ stage: stage as StageName, ...backlog })),
        columns,
      ),
  })
}

const columns: readonly ItemColumn<StageBacklog & { readonly stage: StageName }>[] = [
  { title: 'stage', text: ({ stage }) => stage },
  { title: 'backlog', count: ({ backlog }) => backlog },
  { title: 'waiting', count: ({ waiting }) => waiting },
  { title: 'prioritized', count: ({ prioritized }) => prioritized },
  { title: 'due', count: ({ due }) => due },
  { title: 'oldest wait', right: ({ oldestWaitSeconds, backlog }) => durationOf(oldestWaitSeconds, backlog) },
  { title: 'scale by', right: ({ scaleSeconds, backlog }) => durationOf(scaleSeconds, backlog) },
  { title: 'state', text: ({ paused }) => (paused ? 'paused' : '') },
]

function durationOf(seconds: number, backlog: number): string {
  return backlog === 0 ? '-' : formatDuration(seconds * 1_000)
}
