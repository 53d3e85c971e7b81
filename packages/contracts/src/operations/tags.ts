/** The groups of operations, in the order in which documents list them. */
export const operationTags = [
  { name: 'agents', description: 'System prompts, docs and settings, and the clears of their windows.' },
  { name: 'threads', description: 'Conversations and runs of an agent, and the processes that run for them.' },
  { name: 'messages', description: 'Appended once, kept in order, never changed.' },
  { name: 'contexts', description: 'Messages for a model within a budget, with a receipt of every line.' },
  { name: 'recall', description: 'The full text of condensed contents, and the search for it.' },
  { name: 'facts', description: 'Known things that hold, since when, and from which messages.' },
  { name: 'items', description: 'Rules, references and tools that contexts may include.' },
  { name: 'blocks', description: 'Working memory: short texts that agents and people edit, shown in every context.' },
  { name: 'snapshots', description: 'Saved windows of an agent, and restoring them.' },
  { name: 'iterations', description: 'The steps of autonomous runs.' },
  { name: 'project', description: 'Keys, grants to other projects, and jobs that failed permanently.' },
  { name: 'stages', description: 'The queues and workers of the deployment, and its health.' },
  { name: 'proxy', description: 'Requests to providers that were relayed, and their costs.' },
  { name: 'hooks', description: 'Events of agents that have hooks.' },
  { name: 'events', description: 'Events of the project as they happen.' },
] as const

export type OperationTag = (typeof operationTags)[number]['name']
