import { copyFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { command } from './command.js'
import type { Project } from './project.js'
import type { RunningHeddle } from './running.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const compiler = join(root, 'node_modules/.bin/tsc')

/** `npx heddle demo`: the main job on a real session. */
export async function runDemo(project: Project): Promise<void> {
  const shown = await project.npx(['heddle', 'demo'])
  if (!shown.includes('identical to the original')) throw new Error(`the demo recalled nothing:\n${shown}`)
}

const SESSION = [
  { role: 'user', content: 'The login fails.' },
  { role: 'assistant', content: 'I will look at the log.' },
  { role: 'user', content: 'It says that the token is expired.' },
]

/** An import, then a context of the imported messages, by HTTP and by MCP. */
export async function importAndAsk(project: Project, { url }: RunningHeddle): Promise<{ mcpTools: number }> {
  const file = join(project.folder, 'session.jsonl')
  await writeFile(file, SESSION.map((message) => `${JSON.stringify(message)}\n`).join(''))
  const into = ['--agent', 'coder', '--thread', 'imported', '--rolling-window', 'none']
  await project.npx(['heddle', 'import', file, ...into], { HEDDLE_URL: undefined })

  const response = await fetch(`${url}/v1/threads/imported/contexts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'coder', budget: 4_000 }),
  })
  assertShown('HTTP', await response.text())

  const mcp = new Client({ name: 'installed', version: '1' })
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)) as Parameters<typeof mcp.connect>[0])
  try {
    const { tools } = await mcp.listTools()
    const request = { agent: 'coder', thread: 'imported', budget: 4_000 }
    assertShown('MCP', JSON.stringify(await mcp.callTool({ name: 'build_context', arguments: request })))
    return { mcpTools: tools.length }
  } finally {
    await mcp.close()
  }
}

function assertShown(way: string, answer: string): void {
  if (!answer.includes('the token is expired')) throw new Error(`the context over ${way} shows nothing: ${answer}`)
}

/** All checks of `strict` and related flags, including the declarations of packages. */
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
}

export interface CompileOptions {
  /** False if the declarations of packages outside of Heddle violate some of the checks. */
  readonly checksDeclarations: boolean
}

export interface ProgramOptions extends CompileOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Of the programs. Default: the one of programs that are compiled with this repository. */
  readonly folder?: string
}

/** Compiles a program under every strict flag in the folder of the project, and runs it there. */
export async function compileAndRun(
  project: Project,
  program: string,
  { env = {}, folder = '', checksDeclarations }: ProgramOptions,
): Promise<Readonly<Record<string, unknown>>> {
  await compileProgram(project, [programPath(join(folder, program))], { checksDeclarations })
  const options = { cwd: project.folder, env: { ...project.env, ...env } }
  const { stdout } = await command([project.node, `${program}.js`], options)
  return JSON.parse(stdout) as Record<string, unknown>
}

/** @param program its name below `programs`, such as `later-node/mastra` */
export function programPath(program: string): string {
  return fileURLToPath(new URL(`programs/${program}.ts`, import.meta.url))
}

/** Copies files into the folder of the project, and compiles them there under every strict flag. */
export async function compileProgram(
  project: Project,
  sources: readonly string[],
  { checksDeclarations }: CompileOptions,
): Promise<void> {
  const compilerOptions = {
    ...STRICT,
    skipLibCheck: !checksDeclarations,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    types: ['node'],
    // The types of Node are those of this repository: they are a dependency of the program, not of Heddle.
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const files = sources.map((source) => basename(source))
  for (const [index, source] of sources.entries()) await copyFile(source, join(project.folder, files[index] ?? ''))
  await writeFile(join(project.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  await command([compiler, '-p', '.'], { cwd: project.folder, env: project.env })
}
