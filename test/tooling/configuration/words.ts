/** Descriptions of fields whose comment is missing or written for developers. */
export const descriptions: Readonly<Record<string, string>> = {
  databaseUrl: 'The Postgres that stores the messages. Without it `heddle` starts an embedded one in `dataDir`.',
  redisUrl:
    'The Redis of the queues, together with `databaseUrl`: a server, or the sentinels of a primary ([operations](operations.md#high-availability)). Without it the queues are in Postgres.',
  directDatabaseUrl:
    'The same Postgres without the pooler that `databaseUrl` names: for queues in Postgres, whose connections listen, and for migrations ([operations](operations.md#high-availability)).',
  adminDatabaseUrl: 'The login of the owner of the tables, used by `heddle migrate`, `backup` and `projects` only.',
  databases:
    'Further databases, by name, to which projects are moved, each with `url` and, for the owner, `adminUrl` ([scale](scale.md#more-than-one-postgres)). In the variable `name=url` or `name=url|adminUrl`, separated by spaces.',
  project: 'The project to work in.',
  dataDir: 'The folder of the embedded server; relative paths start at the working directory of the command.',
  port: 'The port of the HTTP interface; 0 picks a free one.',
  healthPort:
    'The port on which workers serve `/healthz`, `/readyz` and `/metrics`; 0 picks a free one. Without it they serve none.',
  healthHost:
    'The address of `healthPort`. Another one than loopback, such as `0.0.0.0`, serves them without a key: for a private network, where a supervisor and Prometheus reach it by its address.',
  logLevel: 'The lowest level that `heddle up`, `worker` and `gateway` log. Other commands log only if it is set.',
  queuePrefix: 'Keeps installations apart on one server: 1 to 40 of a-z, 0-9, _ and -, starting with a letter.',
  'queue.ingestJobsMax': 'Jobs that may wait for ingest before producers are refused ([producers](producers.md)).',
  'queue.ingestBytesMax': 'Bytes that may wait for ingest before producers are refused.',
  'queue.directAppends':
    'Whether the process of a caller that waits for its append commits it, without the queue ([producers](producers.md)).',
  'connections.store':
    'Connections of one process to Postgres for the store ([operations](operations.md#connections)).',
  'connections.workers': 'Connections of one process to Postgres for processing jobs, if the queues are in Postgres.',
  'workers.niceness': 'Niceness of `heddle worker`: a higher value gives other processes of the machine precedence.',
  'proxy.upstreams':
    'Servers of providers by the first part of their path, each with `url`, `protocol` (`anthropic` or `openai`, which is the default) and `compaction` (`pass`, or `heddle` where Heddle answers `POST /responses/compact`) ([proxy](proxy.md)). `anthropic` and `openai` exist without configuration; `HEDDLE_PROXY_ANTHROPIC_URL` and `HEDDLE_PROXY_OPENAI_URL` set their addresses.',
  'proxy.recall':
    'Whether the tool `heddle_recall` is added to the tools of requests in `stub` and `compact`, and answered by the proxy.',
  'proxy.lateMs':
    'Longest time in milliseconds that a request to a provider waits for Heddle itself; then it is sent on as it came.',
  'embedder.kind':
    'The embedder, which computes vectors of texts; `auto` uses the local model if its files exist, otherwise hashing ([embedding](embedding.md)).',
  'embedder.model': 'The model, for embedders with several.',
  'embedder.modelsDir': 'The folder with the files of local models.',
  'embedder.baseUrl': 'The address of an embedder that is compatible with OpenAI.',
  'embedder.dimensions': 'Dimensions of the vectors, for models with a choice.',
  'embedder.threads': 'Threads of a local model.',
  'telemetry.url':
    'The address of a collector of OpenTelemetry for OTLP over HTTP, without `/v1/traces`. Without it there is no telemetry ([telemetry](telemetry.md)).',
  'telemetry.metricsSeconds': 'Seconds between two exports of the metrics of a process.',
  'telemetry.sampled':
    'Share of the traces that begin here and are recorded. A caller’s sampled trace is always continued.',
  'reranker.kind':
    'The model that orders the first results of a search again: a cross-encoder on this machine, or a service with `/rerank` ([search](search.md#reranking)).',
  'reranker.model': 'The model; a service needs one.',
  'reranker.baseUrl': 'The address of the service, without `/rerank`.',
  'reranker.candidates': 'The first results that the model reads.',
  'reranker.timeoutMs':
    'Longest time in milliseconds that a search waits for the model; then results keep their order.',
  'retention.deliveredMinutes':
    'Bytes of delivered contexts. Older contexts are rebuilt on request, which takes longer.',
  'retention.contextsDays': 'Built and failed contexts, from their request.',
  'retention.contextItemsDays':
    'Records of the items in contexts that no reply answers; those of replies stay as long as the reply.',
  'retention.eventsDays': 'The event log from which subscribers resume.',
  'retention.keptLanesDays':
    'Compactions for requests whose budget, model or strategy is not the agent’s, from the last such request ([strategies](strategies.md#requests-with-a-budget-of-their-own)).',
  'retention.voidStatesDays': 'Compactions that were invalidated by a late message or a clear.',
  'retention.summaryCallsDays': 'Records of the calls for summaries and of their cost.',
  'retention.proxiedConversationsDays':
    'What was sent last in relayed conversations, since their last request ([proxy](proxy.md)).',
  'retention.proxiedRequestsDays': 'Relayed requests to providers, in figures, and their cost ([proxy](proxy.md)).',
  'retention.deadLettersDays': 'Redriven dead letters, from the redrive; others are kept.',
  'retention.tombstonesDays': 'Tombstones, which refuse jobs for erased data, from the end of the erasure.',
  vectorCacheMegabytes: 'Megabytes of vectors that one process caches, if vectors are compared in memory.',
  strategyModules:
    'Modules that register custom strategies: paths relative to the file’s folder, or packages ([strategies](strategies.md)).',
  'context.raw_window_size': 'The same as `settings.iterations.rawWindowSize`.',
  'context.summarize_every': 'The same as `settings.iterations.summarizeEvery`.',
  'context.max_summary_tokens': 'The same as `settings.maxSummaryTokens`.',
  strategy: 'The strategy that fits the history into the budget ([strategies](strategies.md)).',
  summarizationProvider:
    'The provider of summaries; `null` uses the first provider with a key ([summaries](summaries.md)).',
  summarizationModel: 'The model of that provider; `null` uses its default.',
  'sandwich.preserveTop': 'Number of oldest messages that stay verbatim.',
  'sandwich.preserveBottom': 'Number of newest messages that stay verbatim.',
  'tree.preserveTop': 'Number of oldest messages that stay verbatim.',
  'tree.preserveBottom': 'Number of newest messages that stay verbatim.',
  'sections.order':
    'The order of the sections of a context: `cache-stable` puts sections that change with each context at the end ([formats](formats.md)).',
  'sections.allocations.system-prompt': 'Tokens of the system prompt.',
  'sections.allocations.docs': 'Tokens of the documents of the agent.',
  'sections.allocations.rules': 'Tokens of rules.',
  'sections.allocations.references': 'Tokens of references.',
  'sections.allocations.status': 'Tokens of the status of other threads and processes.',
  'sections.allocations.history': 'Tokens of the history.',
  'search.preset': 'A preset of the four fields below, which override it.',
  'search.enabled': 'Whether items are selected at all; `false` leaves a context with the items of its thread.',
  'search.wordShare':
    'How much shared words raise the score of an item beyond that of the vectors; 0 leaves the vectors alone.',
  'search.fitBudget': 'Scales `topN` and `topK` to the tokens for selected items: up to four times, down to one item.',
  'search.types.rule.enabled': 'Whether rules are selected at all.',
  'search.types.rule.topK': 'Chunks of rules considered.',
  'search.types.rule.topN':
    'Number of rules selected; with any of these fields they are selected apart from other items.',
  'search.types.rule.includeScore': 'Score from which rules are included beyond `topN`.',
  'search.types.rule.minScore': 'Score below which rules are never included.',
  'search.types.reference.enabled': 'Whether references are selected at all.',
  'search.types.reference.topK': 'Chunks of references considered.',
  'search.types.reference.topN':
    'Number of references selected; with any of these fields they are selected apart from other items.',
  'search.types.reference.includeScore': 'Score from which references are included beyond `topN`.',
  'search.types.reference.minScore': 'Score below which references are never included.',
  'search.types.tool.enabled': 'Whether tools are selected at all.',
  'search.types.tool.topK': 'Chunks of tools considered.',
  'search.types.tool.topN':
    'Number of tools selected; with any of these fields they are selected apart from other items.',
  'search.types.tool.includeScore': 'Score from which tools are included beyond `topN`.',
  'search.types.tool.minScore': 'Score below which tools are never included.',
}

/** Defaults that depend on something else. */
export const defaults: Readonly<Record<string, string>> = {
  databaseUrl: 'embedded',
  redisUrl: 'queues in Postgres',
  directDatabaseUrl: '`databaseUrl`',
  adminDatabaseUrl: '`directDatabaseUrl`',
  databases: 'no others',
  dataDir: '`.heddle`',
  'queue.ingestJobsMax': '`100000`',
  'queue.ingestBytesMax': '`268435456`',
  'connections.store': '3 for one stage, otherwise 4',
  'connections.workers': '2 for one stage, 3 for several',
  'proxy.upstreams': '`anthropic` and `openai`',
  'proxy.stubTokensMin': '`4000`',
  'embedder.model': 'of the embedder',
  'embedder.modelsDir': '`~/.cache/transformers`',
  'embedder.baseUrl': 'OpenAI’s',
  'embedder.dimensions': 'of the model',
  'embedder.threads': 'one less than the cores',
  'reranker.model': '`Xenova/ms-marco-MiniLM-L-6-v2` for `local`',
}

/** Variables outside of the configuration schema. */
export const otherVariables: readonly { readonly name: string; readonly description: string }[] = [
  {
    name: 'HEDDLE_CONFIG',
    description: 'The configuration file, instead of `heddle.yaml` in the working directory.',
  },
  { name: 'HEDDLE_URL', description: 'A gateway that commands use instead of a store on this machine.' },
  { name: 'HEDDLE_KEY', description: 'The key for that gateway.' },
  {
    name: 'HEDDLE_BACKUP_KEY',
    description: 'The key of backups, at least 16 characters ([operations](operations.md#backup-and-restore)).',
  },
  {
    name: 'OTEL_SERVICE_NAME',
    description: 'The name of the service in traces and metrics, default `heddle` ([telemetry](telemetry.md)).',
  },
  {
    name: 'HEDDLE_MODELS_FILE',
    description: 'A file from https://models.dev with context windows of further models.',
  },
  { name: 'HEDDLE_RERANK_API_KEY', description: 'The key of the service of `reranker.baseUrl`, if it needs one.' },
  { name: 'TRANSFORMERS_CACHE', description: 'A further folder that is searched for files of local models.' },
  { name: 'HF_ENDPOINT', description: 'The server from which `heddle models pull` downloads models.' },
  { name: 'HF_TOKEN', description: 'The token for that server, if it requires one.' },
  { name: 'NO_COLOR', description: 'If not empty, disables colours.' },
  { name: 'FORCE_COLOR', description: 'Enables colours without a terminal; `0` disables them.' },
]
