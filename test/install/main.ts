import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '@heddle/embedded'
import { createLogger } from '@heddle/runtime'
import { startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { checkPackages } from './check-packages.js'
import { measureFirstReceipt } from './first-receipt.js'
import { compileAndRun, importAndAsk, runDemo } from './journeys.js'
import { findLaterNode } from './later-node/later-node.js'
import { runMastra } from './later-node/mastra.js'
import { runVersions } from './later-node/versions.js'
import { findChromium, runInPage } from './page.js'
import { runPlugins } from './plugins.js'
import { Project } from './project.js'
import { publishAll, publishedPackages } from './publish.js'
import { hasPython, runPython } from './python.js'
import { installByReadme, runByReadme } from './readme.js'
import { startRegistry } from './registry.js'
import { startUp } from './running.js'

/*
 * Installs Heddle as its users do, and uses it: all packages are published to a registry on this machine, and installed from
 * there into empty folders outside of the repository. Prints the results as JSON.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Six megabytes of them are Zod. */
const CLIENT_MAX = { packages: 5, megabytes: 8.5 }

const started = performance.now()
const say = (text: string) => process.stderr.write(`${Math.round((performance.now() - started) / 1_000)} s  ${text}\n`)
const results: Record<string, unknown> = {}
const work = await mkdtemp(join(tmpdir(), 'heddle-install-'))
// If this runs as root, Postgres runs as another user, and would otherwise keep its data elsewhere.
await chmod(work, 0o755)
const env = cleanEnvironment()
const registry = await startRegistry(work)
try {
  const packages = await publishedPackages(root)
  say(`checking ${packages.length} packages`)
  results['packages'] = packages.length
  await checkPackages(root, packages, work)
  say(`publishing them to ${registry.url}`)
  await publishAll(packages, { registry: registry.url, folder: work, env })

  say('npm install @heddle/cli, npx heddle up, an agent by way of it, npx heddle proxy stats')
  results['firstReceipt'] = await measureFirstReceipt(work, env, registry.url)

  const client = await Project.make(join(work, 'client'), env, registry.url)
  say('npm install @heddle/client')
  const installed = await client.install('@heddle/client')
  results['client'] = installed
  if (installed.packages > CLIENT_MAX.packages || installed.megabytes > CLIENT_MAX.megabytes) {
    throw new Error(`@heddle/client takes ${JSON.stringify(installed)}, the most is ${JSON.stringify(CLIENT_MAX)}`)
  }

  const cli = await Project.make(join(work, 'cli'), env, registry.url)
  say('npm install @heddle/cli')
  results['cli'] = await cli.install('@heddle/cli')
  say('npx heddle demo')
  await runDemo(cli)
  {
    say('npx heddle up')
    await using up = await startUp(cli)
    say('an import, a context over HTTP and MCP')
    results['up'] = await importAndAsk(cli, up)
    say('a strict program over HTTP')
    const address = { HEDDLE_URL: up.url }
    results['overHttp'] = await compileAndRun(client, 'over-http', { env: address, checksDeclarations: true })
    const app = await Project.make(join(work, 'ai-sdk'), env, registry.url)
    say('npm install @heddle/ai-sdk ai')
    results['aiSdk'] = await installByReadme(app, 'ai-sdk', { ai: '5.0.277', '@ai-sdk/openai-compatible': '1.0.61' })
    say('the program of its README')
    results['overAiSdk'] = await withProvider((provider) =>
      runByReadme(app, 'ai-sdk', { env: { ...address, ...provider } }),
    )
    const agents = await Project.make(join(work, 'openai-agents'), env, registry.url)
    say('npm install @heddle/openai-agents @openai/agents')
    results['openaiAgents'] = await installByReadme(agents, 'openai-agents', { '@openai/agents': '0.14.3' })
    say('the program of its README')
    results['overOpenaiAgents'] = await withProvider((provider) =>
      runByReadme(agents, 'openai-agents', { env: { ...address, ...provider } }),
    )
    const chain = await Project.make(join(work, 'langchain'), env, registry.url)
    say('npm install @heddle/langchain langchain')
    const chainVersions = { langchain: '1.5.14', '@langchain/core': '1.4.0', '@langchain/openai': '1.5.6' }
    results['langchain'] = await installByReadme(chain, 'langchain', chainVersions)
    say('the program of its README')
    results['overLangchain'] = await withProvider((provider) =>
      runByReadme(chain, 'langchain', { env: { ...address, ...provider } }),
    )
    if (await hasPython(env)) {
      say('pip install ./clients/python, the program of its README, the history for LangChain')
      results['python'] = await runPython({ work, env, heddleUrl: up.url })
    } else say('SKIPPED: there is no Python 3.9 with venv on this machine')
    const node = await findLaterNode(work, env)
    if (node === null) say('SKIPPED: a later Node could not be fetched from npm, so what needs it was not tried')
    else {
      const later = { node, work, env, registryUrl: registry.url, heddleUrl: up.url }
      say('on a later Node: @heddle/mastra with agents, a loop of 200 turns, an outage')
      results['overMastra'] = await runMastra(later)
      say('on a later Node: other versions of frameworks, each with a loop of 200 turns and the tests of its adapter')
      results['versions'] = await runVersions(later)
    }
    const executable = findChromium()
    if (executable === null) say('SKIPPED: there is no Chromium on this machine, so no page was tried')
    else say('the same in a page')
    results['inPage'] = executable === null ? 'skipped' : await runInPage(client, up.url, executable)
  }

  say('the READMEs of the plugins, in Claude Code, Codex and OpenCode')
  results['plugins'] = await runPlugins({ work, env, registryUrl: registry.url, say })
  const engine = await Project.make(join(work, 'engine'), env, registry.url)
  say('npm install @heddle/client @heddle/engine')
  results['engine'] = await engine.install('@heddle/client', '@heddle/engine')
  say('a strict program over the queue')
  const log = createLogger({ level: 'silent', name: 'install' })
  const postgres = await startEmbeddedPostgres({ dataDir: join(work, 'postgres'), durable: false, log })
  try {
    const database = { DATABASE_URL: postgres.url, HEDDLE_ADMIN_DATABASE_URL: postgres.adminUrl }
    await using _ = await startUp(cli, database)
    results['overQueue'] = await compileAndRun(engine, 'over-queue', { env: database, checksDeclarations: false })
  } finally {
    await postgres.stop()
  }
} finally {
  await registry.close()
  await rm(work, { recursive: true, force: true })
}
results['seconds'] = Math.round((performance.now() - started) / 1_000)
process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)

/** A provider on this machine, and the variables that name it. */
async function withProvider<Result>(work: (env: { OPENAI_BASE_URL: string }) => Promise<Result>): Promise<Result> {
  const provider = await startProtocolServer()
  provider.respond(() => ({ kind: 'text', text: 'The token has expired.' }))
  try {
    return await work({ OPENAI_BASE_URL: provider.openAiUrl })
  } finally {
    await provider.close()
  }
}

/** The environment of a user without any Heddle variable, and without npm variables of a script of this repository. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(npm_(?!config_cache|config_registry)|HEDDLE_|DATABASE_URL$|REDIS_URL$|NODE_OPTIONS$|INIT_CWD$)/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}
