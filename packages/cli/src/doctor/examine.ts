import { mergeSettings, type StageName, settingOrigins, stageNames } from '@heddle/contracts'
import { CloseStack } from '@heddle/host/closing'
import type { DatabaseServer } from '@heddle/host/database'
import { type Config, type Logger, settingsSourcesOf, variableOfSetting, withoutCredentials } from '@heddle/runtime'
import type { ServerHealth, Store } from '@heddle/store'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from '../connect/context.js'
import { untilStopped } from '../connect/with-engine.js'
import { type Check, failedBy, passed, skipped, warned } from './check.js'
import { checksOfServer, clockCheck, connectionCheck, noConnectionCheck } from './database.js'
import { checkDatabases } from './databases.js'
import { diskChecks } from './disk.js'

const CLOSE_MS = 30_000
/** Connections that Postgres keeps for superusers, and one for this command. */
const RESERVED = 4

/** Checks everything that Heddle needs. It throws only when interrupted: problems are in the checks. */
export async function examine(context: CommandContext, options: CommonOptions): Promise<Check[]> {
  let config: Config
  try {
    config = configOf(context, options)
  } catch (error) {
    return [failedBy('configuration', error), ...['database', 'queues', 'models', 'summarizer'].map(skipped)]
  }
  const log = loggerOf(context, config, 'command')
  const opened = new CloseStack(log)
  try {
    return await untilStopped(context.signal, examineConfigured(context, config, log, opened))
  } finally {
    await opened.close()
  }
}

async function examineConfigured(
  context: CommandContext,
  config: Config,
  log: Logger,
  opened: CloseStack,
): Promise<Check[]> {
  return [
    passed('configuration', `${config.mode} mode, project "${config.project}", ${placeOfData(config)}`),
    ...(config.mode === 'embedded' ? await diskChecks(config.dataDir) : []),
    ...(await checkServers(context, config, log, opened)),
    await checkModels(context, config, log),
    await checkSummarizer(context, config),
  ]
}

/** The data folder, or the addresses of the database without credentials. */
function placeOfData({ mode, dataDir, databaseUrl, directDatabaseUrl }: Config): string {
  if (mode === 'embedded') return `data in ${dataDir}`
  const address = withoutCredentials(databaseUrl ?? '')
  return directDatabaseUrl === null ? address : `${address}, without a pooler ${withoutCredentials(directDatabaseUrl)}`
}

async function checkServers(
  context: CommandContext,
  config: Config,
  log: Logger,
  opened: CloseStack,
): Promise<Check[]> {
  const { inspectServer, openStore } = await import('@heddle/store')
  const { connectionsOf } = await import('@heddle/host')
  const { migrateAll, openServer } = await import('@heddle/host/database')
  let server: DatabaseServer | undefined
  try {
    const started = await openServer({ context, config, log, durable: true })
    server = started
    opened.push('server', Number.POSITIVE_INFINITY, () => started.stop())
    // The first command that runs migrates the embedded server.
    if (server.kind === 'embedded') await migrateAll(config, server, log)
    const { databases } = config
    const store = openStore({ url: server.url, databases, connectionsMax: 1, applicationName: 'heddle doctor' })
    opened.push('store', CLOSE_MS, () => store.close())
    // The store times out on a server that does not answer.
    await store.ping()
    const health = await inspectServer({ url: server.url })
    const checks = checksOfServer(health)
    const reachable = passed(
      'database',
      server.kind === 'embedded' ? 'the embedded Postgres runs' : 'the server answers',
    )
    const migrated = health.migrationsPending.length === 0
    const queues = migrated ? await checkQueues(config, server, store, log, opened) : [skipped('queues')]
    const letters = migrated
      ? await checkDeadLetters(store, config).catch((error) => failedBy('dead letters', error))
      : skipped('dead letters')
    const search = migrated
      ? await checkSearch(store, config, health).catch((error) => failedBy('search', error))
      : skipped('search')
    const windows = migrated
      ? await checkWindows(store, config).catch((error) => failedBy('model windows', error))
      : skipped('model windows')
    const calibration = migrated
      ? await checkCalibration(store, config).catch((error) => failedBy('calibration', error))
      : skipped('calibration')
    const most = { process: connectionsOf(config, stageNames).total, stage: connectionsOf(config, ['assemble']).total }
    return [
      reachable,
      ...checks,
      connectionCheck(health, most),
      clockCheck(health),
      ...(await checkDatabases(config)),
      ...queues,
      letters,
      search,
      windows,
      calibration,
    ]
  } catch (error) {
    const connections = server === undefined ? [] : await checkConnections(server)
    return [failedBy('database', error), ...connections, skipped('queues')]
  }
}

/** A server without free connections for services may still have one for its administrator. */
async function checkConnections({ url, adminUrl }: DatabaseServer): Promise<Check[]> {
  const { inspectConnections } = await import('@heddle/store')
  const figures = await inspectConnections({ url, adminUrl }).catch(() => null)
  if (figures === null) return []
  const left = [
    figures,
    ...figures.connectionLimits.map(({ max, open }) => ({ connectionsMax: max, connectionsOpen: open })),
  ]
  return left.some(({ connectionsMax, connectionsOpen }) => connectionsOpen >= connectionsMax - RESERVED)
    ? [noConnectionCheck(figures)]
    : []
}

/** Jobs that failed permanently. For appends with `ack: 'queued'`, dead letters are the only sign of a failure. */
async function checkDeadLetters(store: Store, config: Config): Promise<Check> {
  const { countDeadLetters } = await import('@heddle/store')
  const { NIL_ID, projectIdOf } = await import('@heddle/core')
  // A job that could not be parsed belongs to no project.
  const places = [projectIdOf(config.project), NIL_ID]
  const counts = await Promise.all(places.map((projectId) => store.inProject(projectId, countDeadLetters)))
  const count = counts.reduce((sum, each) => sum + each, 0)
  if (count === 0) return passed('dead letters', 'none')
  const detail = `${count} ${count === 1 ? 'job was' : 'jobs were'} given up`
  return warned(
    'dead letters',
    detail,
    'Run "heddle queues --json" to see why, and "heddle queues redrive" once the cause is fixed.',
  )
}

/** How vectors are compared, and whether the largest agent is within its limits. */
async function checkSearch(store: Store, config: Config, health: ServerHealth): Promise<Check> {
  const { largestVectorScope } = await import('@heddle/store')
  const { projectIdOf } = await import('@heddle/core')
  const { searchCheck } = await import('./search.js')
  const largest = await store.inProject(projectIdOf(config.project), largestVectorScope)
  return searchCheck(health.pgvector, { largest, cacheMegabytes: config.vectorCacheMegabytes })
}

/** The models of settings and requests whose windows are assumed. */
async function checkWindows(store: Store, config: Config): Promise<Check> {
  const { listModelsInUse } = await import('@heddle/store')
  const { projectIdOf } = await import('@heddle/core')
  const { windowCheck } = await import('./model-windows.js')
  const used = await store.inProject(projectIdOf(config.project), listModelsInUse)
  const { model, unknownModelWindow } = mergeSettings(config.settings)
  return windowCheck(used, { configured: model, assumedTokens: unknownModelWindow })
}

/** The models whose providers count more than we do. */
async function checkCalibration(store: Store, config: Config): Promise<Check> {
  const { listStrongest } = await import('@heddle/store')
  const { projectIdOf } = await import('@heddle/core')
  const { CALIBRATIONS_READ_MAX, calibrationCheck } = await import('./calibration.js')
  const learnt = await store.inProject(projectIdOf(config.project), (tx) =>
    listStrongest(tx, { limit: CALIBRATIONS_READ_MAX }),
  )
  return calibrationCheck(learnt, mergeSettings(config.settings).calibration.enabled)
}

async function checkQueues(
  config: Config,
  server: DatabaseServer,
  store: Store,
  log: Logger,
  opened: CloseStack,
): Promise<Check[]> {
  const { openQueues } = await import('@heddle/queue')
  const { backendOf } = await import('@heddle/host/database')
  const { servedStages } = await import('@heddle/host')
  try {
    const queues = await openQueues({ backend: backendOf(config, server), prefix: config.queuePrefix, log })
    opened.push('queues', CLOSE_MS, () => queues.close())
    const facts = await queues.ping()
    const [stats, served] = await Promise.all([queues.stats(), servedStages(store, config.queuePrefix)])
    const paused = stats.filter((stage) => stage.paused).map(({ stage }) => stage)
    // Where no agent asks for facts, no job ever comes to `remember`, and a deployment may do without it.
    const isNeeded = (stage: StageName) =>
      stage !== 'remember' || stats.some((one) => one.stage === stage && one.waiting + one.delayed > 0)
    const unserved = stageNames.filter((stage) => !served.has(stage) && isNeeded(stage))
    return [
      passed('queues', `${facts.server} ${facts.version} answers in ${facts.latencyMs.toFixed(1)} ms`),
      ...facts.warnings.map(({ what, hint }) => warned('queues', what, hint)),
      ...(paused.length === 0 ? [] : [warned('queues', `paused: ${paused.join(', ')}`, 'Run "heddle queues resume".')]),
      unserved.length === 0
        ? passed('workers', 'every stage is served')
        : warned('workers', `no worker runs for ${unserved.join(', ')}`, 'Run "heddle up", or "heddle worker all".'),
    ]
  } catch (error) {
    return [failedBy('queues', error)]
  }
}

async function checkModels({ env }: CommandContext, config: Config, log: Logger): Promise<Check> {
  const { chooseEmbedder } = await import('@heddle/models')
  try {
    const { embedder, reason, fellBack, fault } = await chooseEmbedder(config.embedder, { env, log })
    await embedder.close()
    if (fault !== null) return failedBy('embedder', fault)
    const detail = `${embedder.model} (${embedder.dimensions} dimensions): ${reason}`
    if (!fellBack) return passed('embedder', detail)
    return warned(
      'embedder',
      detail,
      'Search works by words only. For search by meaning run "heddle models pull", or set HEDDLE_EMBEDDER=openai.',
    )
  } catch (error) {
    return failedBy('embedder', error)
  }
}

const PROVIDER = 'summarizationProvider'

/** The summarizer of agents without their own settings. No provider is called. */
async function checkSummarizer(context: CommandContext, config: Config): Promise<Check> {
  const { chooseSummarizer } = await import('@heddle/models')
  const { provider, model, reason, fellBack } = chooseSummarizer(mergeSettings(config.settings), context.env)
  const detail = `${provider === null ? 'extractive' : `${provider.name} ${model}`}: ${reason}`
  if (!fellBack) return passed('summarizer', detail)
  return warned(
    'summarizer',
    detail,
    `Set the key of that provider in the environment, or remove ${placeOfProvider(context)}; until then summaries are written without a model.`,
  )
}

/** The place where the provider is configured; the environment overrides the file. */
function placeOfProvider(context: CommandContext): string {
  const { path, layers } = settingsSourcesOf(context)
  const origins = settingOrigins(layers.map(({ kind, settings }) => ({ from: kind, settings })))
  const { from } = origins.find(({ name }) => name === PROVIDER) ?? {}
  return from === 'file' ? `${PROVIDER} in ${path}` : (variableOfSetting(PROVIDER) ?? PROVIDER)
}
