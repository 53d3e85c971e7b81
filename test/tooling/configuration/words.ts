/** Descriptions of fields whose comment is missing or written for developers. */
export const descriptions: Readonly<Record<string, string>> = {
  databaseUrl:
    'Where messages are kept: a Postgres of your own. Without it `heddle` starts one of its own in `dataDir`.',
  redisUrl: 'Where the queues are, with `databaseUrl` beside it. Without it they are in Postgres.',
  adminDatabaseUrl: 'The login of the owner of the tables, for `heddle migrate` alone.',
  project: 'The project to work in.',
  dataDir: 'The folder of the embedded server; relative paths begin at the folder in which the command runs.',
  port: 'The port of the HTTP interface; 0 takes any that is free.',
  healthPort:
    'Where workers serve `/healthz`, `/readyz` and `/metrics` on loopback; 0 takes any port that is free. Without it they do not.',
  logLevel: 'The least of what is logged by `heddle up` and `heddle worker`, and by commands where it is set.',
  queuePrefix: 'Keeps installations apart on one server: 1 to 40 of a-z, 0-9, _ and -, starting with a letter.',
  'queue.ingestJobsMax': 'Jobs that may wait for ingest before producers are refused ([producers](producers.md)).',
  'queue.ingestBytesMax': 'Bytes that may wait for ingest, likewise.',
  'connections.store':
    'Connections of one process to Postgres for the store ([operations](operations.md#connections)).',
  'connections.workers': 'Connections of one process to Postgres for doing jobs, where the queues are in Postgres.',
  'workers.niceness': 'How far `heddle worker` stands back for other processes of its machine.',
  'embedder.kind':
    'What turns texts into vectors; `auto` takes the local model where its files are, else hashing ([embedding](embedding.md)).',
  'embedder.model': 'Its model, where it has several.',
  'embedder.modelsDir': 'The folder with the files of local models.',
  'embedder.baseUrl': 'The address of an embedder that speaks as OpenAI does.',
  'embedder.dimensions': 'Dimensions of the vectors, for models that can have several.',
  'embedder.threads': 'Threads of a local model.',
  'retention.deliveredMinutes': 'The bytes of contexts as they were delivered; rebuilding them takes longer.',
  'retention.contextsDays': 'Contexts that were built or have failed, since they were requested.',
  'retention.contextItemsDays': 'Which items contexts showed, and which of them their replies used.',
  'retention.eventsDays': 'The log from which subscribers resume.',
  'retention.voidStatesDays': 'Compactions that a late message or a clear made void.',
  'retention.summaryCallsDays': 'What was called for summaries, and what it cost.',
  'retention.deadLettersDays': 'Dead letters, since they were sent again; others stay.',
  'retention.tombstonesDays': 'What refuses jobs for what was erased, since the erasure was finished.',
  vectorCacheMegabytes: 'Megabytes of vectors that one process keeps in memory, where vectors are compared in memory.',
  strategyModules:
    'Modules that register strategies of your own: paths from the file’s folder, or packages ([strategies](strategies.md)).',
  'context.raw_window_size': 'The same as `settings.iterations.rawWindowSize`.',
  'context.summarize_every': 'The same as `settings.iterations.summarizeEvery`.',
  'context.max_summary_tokens': 'The same as `settings.maxSummaryTokens`.',
  strategy: 'How the history is fitted into the budget ([strategies](strategies.md)).',
  summarizationProvider:
    'Who writes summaries; `null` takes the first provider that has a key ([summaries](summaries.md)).',
  summarizationModel: 'The model of that provider; `null` takes its default.',
  'sandwich.preserveTop': 'The oldest messages that stay as they are.',
  'sandwich.preserveBottom': 'The newest messages that stay as they are.',
  'tree.preserveTop': 'The oldest messages that stay as they are.',
  'tree.preserveBottom': 'The newest messages that stay as they are.',
  'sections.order':
    'The order of the parts of a context: `cache-stable` has what changes each time at the end ([formats](formats.md)).',
  'sections.allocations.system-prompt': 'Tokens of the system prompt.',
  'sections.allocations.docs': 'Tokens of the documents of the agent.',
  'sections.allocations.rules': 'Tokens of rules.',
  'sections.allocations.references': 'Tokens of references.',
  'sections.allocations.status': 'Tokens of what other threads and processes do.',
  'sections.allocations.history': 'Tokens of the history, which is fitted into them.',
  'search.preset': 'Stands for the four fields below, which go over it.',
}

/** Defaults that follow from something else. */
export const defaults: Readonly<Record<string, string>> = {
  databaseUrl: 'embedded',
  redisUrl: 'queues in Postgres',
  adminDatabaseUrl: '`databaseUrl`',
  dataDir: '`.heddle`',
  'queue.ingestJobsMax': '`100000`',
  'queue.ingestBytesMax': '`268435456`',
  'connections.store': '3 for one stage, else 4',
  'connections.workers': '2 for one stage, 3 for several',
  'embedder.model': 'of the embedder',
  'embedder.modelsDir': '`~/.cache/transformers`',
  'embedder.baseUrl': 'OpenAI’s',
  'embedder.dimensions': 'of the model',
  'embedder.threads': 'one less than the cores',
}

/** Variables that set no place in the configuration. */
export const otherVariables: readonly { readonly name: string; readonly description: string }[] = [
  {
    name: 'HEDDLE_CONFIG',
    description: 'The file to read instead of `heddle.yaml` in the folder in which the command runs.',
  },
  { name: 'HEDDLE_URL', description: 'A gateway: commands work through it and open no store here.' },
  { name: 'HEDDLE_KEY', description: 'The key for that gateway.' },
  {
    name: 'HEDDLE_MODELS_FILE',
    description: 'A file of https://models.dev with the windows of models that Heddle does not know.',
  },
  { name: 'TRANSFORMERS_CACHE', description: 'Where files of local models are looked for besides.' },
  { name: 'HF_ENDPOINT', description: 'Where `heddle models pull` takes files of models from.' },
  { name: 'HF_TOKEN', description: 'The token for that, where it asks for one.' },
  { name: 'NO_COLOR', description: 'Not empty: no colours anywhere.' },
  { name: 'FORCE_COLOR', description: 'Colours where no terminal is, too; `0` for none.' },
]
