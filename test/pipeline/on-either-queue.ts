/**
 * Suites whose work passes through queues and that name no server for them: they run on Postgres with the others, and once more on
 * Redis in the Vitest project `redis`, because a second run would double the time of `npm test`. Suites that are about the
 * queue itself name both servers instead. `test/tooling/either-queue.test.ts` compares this list with what the files open.
 */
const suites = {
  adapters: [
    'ai-sdk',
    'ai-sdk-loop.slow',
    'langchain',
    'langchain-loop.slow',
    'openai-agents',
    'openai-agents-loop.slow',
    'openai-agents-session',
  ],
  cli: ['cli-door', 'cli-erase'],
  contexts: [
    'budgets',
    'calibration',
    'prebuild',
    'scopes',
    'shared-prefix',
    'stored-contexts',
    'unknown-models',
    'window-warnings',
    'windows',
  ],
  doors: [
    'append-and-build',
    'client-operations',
    'client-transports',
    'facts',
    'histories',
    'http-keys',
    'mcp',
    'mcp-model',
    'mcp-prompts',
    'mcp-references',
    'parts-doors',
  ],
  examples: ['examples'],
  messages: [
    'appended-replies',
    'continued-appends',
    'forks',
    'growing-session',
    'memory-audit',
    'parts',
    'read-forks',
    'real-sessions',
    'restored-messages',
  ],
  memory: ['sections'],
  plugins: ['claude-code', 'codex', 'mcp-hosts', 'opencode', 'recorded-sessions.slow'],
  proxy: ['modes', 'observed', 'recalls'],
  stages: ['kept-lanes', 'summaries.slow'],
}

/** Their paths, in the repository. */
export const onEitherQueue: string[] = Object.entries(suites).flatMap(([folder, names]) =>
  names.map((name) => `test/pipeline/${folder}/${name}.test.ts`),
)
