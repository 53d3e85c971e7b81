/** Every environment variable that Heddle reads, and the place in the configuration that it sets. */
export const variables = {
  DATABASE_URL: ['databaseUrl'],
  REDIS_URL: ['redisUrl'],
  HEDDLE_DIRECT_DATABASE_URL: ['directDatabaseUrl'],
  HEDDLE_ADMIN_DATABASE_URL: ['adminDatabaseUrl'],
  HEDDLE_DATABASES: ['databases'],
  HEDDLE_PROJECT: ['project'],
  HEDDLE_DATA: ['dataDir'],
  HEDDLE_HOST: ['host'],
  HEDDLE_HOSTS: ['hosts'],
  HEDDLE_PORT: ['port'],
  HEDDLE_HEALTH_PORT: ['healthPort'],
  HEDDLE_HEALTH_HOST: ['healthHost'],
  HEDDLE_LOG_LEVEL: ['logLevel'],
  HEDDLE_QUEUE_PREFIX: ['queuePrefix'],
  HEDDLE_INGEST_JOBS_MAX: ['queue', 'ingestJobsMax'],
  HEDDLE_INGEST_BYTES_MAX: ['queue', 'ingestBytesMax'],
  HEDDLE_DIRECT_APPENDS: ['queue', 'directAppends'],
  HEDDLE_STORE_CONNECTIONS: ['connections', 'store'],
  HEDDLE_WORKERS_CONNECTIONS: ['connections', 'workers'],
  HEDDLE_WORKERS_NICENESS: ['workers', 'niceness'],
  HEDDLE_RETENTION_DELIVERED_MINUTES: ['retention', 'deliveredMinutes'],
  HEDDLE_RETENTION_CONTEXTS_DAYS: ['retention', 'contextsDays'],
  HEDDLE_RETENTION_CONTEXT_ITEMS_DAYS: ['retention', 'contextItemsDays'],
  HEDDLE_RETENTION_EVENTS_DAYS: ['retention', 'eventsDays'],
  HEDDLE_RETENTION_KEPT_LANES_DAYS: ['retention', 'keptLanesDays'],
  HEDDLE_RETENTION_VOID_STATES_DAYS: ['retention', 'voidStatesDays'],
  HEDDLE_RETENTION_SUMMARY_CALLS_DAYS: ['retention', 'summaryCallsDays'],
  HEDDLE_RETENTION_PROXIED_REQUESTS_DAYS: ['retention', 'proxiedRequestsDays'],
  HEDDLE_RETENTION_PROXIED_CONVERSATIONS_DAYS: ['retention', 'proxiedConversationsDays'],
  HEDDLE_RETENTION_DEAD_LETTERS_DAYS: ['retention', 'deadLettersDays'],
  HEDDLE_RETENTION_TOMBSTONES_DAYS: ['retention', 'tombstonesDays'],
  HEDDLE_PROXY_ANTHROPIC_URL: ['proxy', 'upstreams', 'anthropic', 'url'],
  HEDDLE_PROXY_OPENAI_URL: ['proxy', 'upstreams', 'openai', 'url'],
  HEDDLE_PROXY_MODE: ['proxy', 'mode'],
  HEDDLE_PROXY_STUB_TOKENS_MIN: ['proxy', 'stubTokensMin'],
  HEDDLE_PROXY_CONTROL: ['proxy', 'control'],
  HEDDLE_PROXY_RECALL: ['proxy', 'recall'],
  HEDDLE_PROXY_LATE_MS: ['proxy', 'lateMs'],
  HEDDLE_EMBEDDER: ['embedder', 'kind'],
  HEDDLE_EMBEDDING_MODEL: ['embedder', 'model'],
  HEDDLE_EMBEDDING_BASE_URL: ['embedder', 'baseUrl'],
  HEDDLE_EMBEDDING_DIMENSIONS: ['embedder', 'dimensions'],
  HEDDLE_EMBEDDING_THREADS: ['embedder', 'threads'],
  HEDDLE_MODELS: ['embedder', 'modelsDir'],
  HEDDLE_RERANKER: ['reranker', 'kind'],
  HEDDLE_RERANK_MODEL: ['reranker', 'model'],
  HEDDLE_RERANK_BASE_URL: ['reranker', 'baseUrl'],
  HEDDLE_RERANK_CANDIDATES: ['reranker', 'candidates'],
  HEDDLE_RERANK_TIMEOUT_MS: ['reranker', 'timeoutMs'],
  HEDDLE_VECTOR_CACHE_MEGABYTES: ['vectorCacheMegabytes'],
  HEDDLE_TELEMETRY_URL: ['telemetry', 'url'],
  HEDDLE_TELEMETRY_SAMPLED: ['telemetry', 'sampled'],
  HEDDLE_TELEMETRY_METRICS_SECONDS: ['telemetry', 'metricsSeconds'],
  HEDDLE_STRATEGY_MODULES: ['strategyModules'],
  HEDDLE_ROLLING_WINDOW: ['settings', 'rollingWindow'],
  HEDDLE_MODEL: ['settings', 'model'],
  HEDDLE_UNKNOWN_MODEL_WINDOW: ['settings', 'unknownModelWindow'],
  HEDDLE_BUDGET: ['settings', 'budget'],
  HEDDLE_STRATEGY: ['settings', 'strategy'],
  HEDDLE_MAX_OUTPUT_TOKENS: ['settings', 'maxOutputTokens'],
  HEDDLE_TEMPERATURE: ['settings', 'temperature'],
  HEDDLE_TOP_P: ['settings', 'topP'],
  HEDDLE_MAX_CHAT_TURNS: ['settings', 'maxChatTurns'],
  HEDDLE_TOOL_PERMISSION: ['settings', 'toolPermission'],
  HEDDLE_DISABLE_AUTO_SUMMARIZE: ['settings', 'disableAutoSummarize'],
  HEDDLE_SUMMARIZATION_PROVIDER: ['settings', 'summarizationProvider'],
  HEDDLE_SUMMARIZATION_MODEL: ['settings', 'summarizationModel'],
  HEDDLE_MAX_SUMMARY_TOKENS: ['settings', 'maxSummaryTokens'],
  HEDDLE_CONTEXT_WINDOW: ['settings', 'iterations', 'rawWindowSize'],
  HEDDLE_SUMMARIZE_EVERY: ['settings', 'iterations', 'summarizeEvery'],
} as const satisfies Record<string, readonly [string, ...string[]]>

export type VariableName = keyof typeof variables

const flags = new Set<VariableName>(['HEDDLE_DISABLE_AUTO_SUMMARIZE', 'HEDDLE_DIRECT_APPENDS', 'HEDDLE_PROXY_RECALL'])

const numbers = new Set<VariableName>([
  'HEDDLE_PORT',
  'HEDDLE_HEALTH_PORT',
  'HEDDLE_INGEST_JOBS_MAX',
  'HEDDLE_INGEST_BYTES_MAX',
  'HEDDLE_STORE_CONNECTIONS',
  'HEDDLE_WORKERS_CONNECTIONS',
  'HEDDLE_WORKERS_NICENESS',
  'HEDDLE_PROXY_STUB_TOKENS_MIN',
  'HEDDLE_PROXY_CONTROL',
  'HEDDLE_PROXY_LATE_MS',
  'HEDDLE_EMBEDDING_DIMENSIONS',
  'HEDDLE_EMBEDDING_THREADS',
  'HEDDLE_RERANK_CANDIDATES',
  'HEDDLE_RERANK_TIMEOUT_MS',
  'HEDDLE_VECTOR_CACHE_MEGABYTES',
  'HEDDLE_TELEMETRY_SAMPLED',
  'HEDDLE_TELEMETRY_METRICS_SECONDS',
  'HEDDLE_UNKNOWN_MODEL_WINDOW',
  'HEDDLE_BUDGET',
  'HEDDLE_MAX_OUTPUT_TOKENS',
  'HEDDLE_MAX_SUMMARY_TOKENS',
  'HEDDLE_CONTEXT_WINDOW',
  'HEDDLE_SUMMARIZE_EVERY',
  'HEDDLE_RETENTION_DELIVERED_MINUTES',
  'HEDDLE_RETENTION_CONTEXTS_DAYS',
  'HEDDLE_RETENTION_CONTEXT_ITEMS_DAYS',
  'HEDDLE_RETENTION_EVENTS_DAYS',
  'HEDDLE_RETENTION_VOID_STATES_DAYS',
  'HEDDLE_RETENTION_SUMMARY_CALLS_DAYS',
  'HEDDLE_RETENTION_PROXIED_REQUESTS_DAYS',
  'HEDDLE_RETENTION_PROXIED_CONVERSATIONS_DAYS',
  'HEDDLE_RETENTION_DEAD_LETTERS_DAYS',
  'HEDDLE_RETENTION_TOMBSTONES_DAYS',
  'HEDDLE_RETENTION_KEPT_LANES_DAYS',
  'HEDDLE_TEMPERATURE',
  'HEDDLE_TOP_P',
  'HEDDLE_MAX_CHAT_TURNS',
])

/**
 * The configuration in the environment, as a tree. An empty variable counts as not set, as in a shell's `HEDDLE_BUDGET=
 * heddle up`. An unparsable value stays a text, which the schema refuses.
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, unknown> {
  const tree: Record<string, unknown> = {}
  for (const name of Object.keys(variables) as VariableName[]) {
    const text = env[name]?.trim()
    if (text === undefined || text === '') continue
    place(tree, variables[name], valueFrom(name, text))
  }
  return tree
}

/** The variable that sets a path, for messages: `settings.budget` is `HEDDLE_BUDGET`. */
export function variableOf(path: readonly PropertyKey[]): VariableName | undefined {
  const wanted = path.join('.')
  return (Object.keys(variables) as VariableName[]).find((name) => variables[name].join('.') === wanted)
}

function valueFrom(name: VariableName, text: string): unknown {
  if (name === 'HEDDLE_STRATEGY_MODULES') return text.split(',').map((part) => part.trim())
  if (name === 'HEDDLE_ROLLING_WINDOW') return text === 'none' ? null : numberOf(text)
  if (name === 'HEDDLE_DATABASES') return databasesFrom(text)
  if (name === 'HEDDLE_HOSTS') return text.split(',').map((host) => host.trim())
  if (name.startsWith('HEDDLE_RETENTION_') && text === 'none') return null
  if (flags.has(name)) return { true: true, 1: true, false: false, 0: false }[text] ?? text
  return numbers.has(name) ? numberOf(text) : text
}

/**
 * `name=address`, separated by spaces or line ends; a second address after a `|` is that of the owner. An address contains no
 * white space, but may contain commas.
 */
function databasesFrom(text: string): Record<string, unknown> | string {
  const databases: Record<string, unknown> = {}
  for (const part of text.split(/\s+/)) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(at, 0))
    // The text may contain passwords, which the message about a fault must not show.
    if (name === '' || name in databases) return 'a list with an entry that has no name of its own'
    const [url, adminUrl] = part.slice(at + 1).split('|')
    databases[name] = { url, ...(adminUrl !== undefined && { adminUrl }) }
  }
  return databases
}

function numberOf(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

function place(tree: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path
  if (key === undefined) return
  if (rest.length === 0) {
    tree[key] = value
    return
  }
  const branch = (tree[key] ?? {}) as Record<string, unknown>
  tree[key] = branch
  place(branch, rest, value)
}
