import type { Command } from 'commander'
import type { CommandContext } from '../../connect/context.js'
import { registerItemsChange } from './items-change.js'
import { registerItemsStats } from './items-stats.js'
import { registerItemsSync } from './items-sync.js'
import { registerItemsView } from './items-view.js'

export function registerItems(program: Command, context: CommandContext): void {
  const items = program.command('items').description('rules, references and tools that an agent may include')
  registerItemsView(items, context)
  registerItemsChange(items, context)
  registerItemsStats(items, context)
  registerItemsSync(items, context)
}
