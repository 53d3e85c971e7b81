import { dirname, join } from 'node:path'
import { command } from '../command.js'
import { Project } from '../project.js'

/** Frameworks that want a later Node than the oldest one of Heddle are tried on this one. */
const NODE_VERSION = '24.21.0'

/** A later Node, and the servers that programs on it use. */
export interface LaterNode {
  readonly node: string
  /** The folder of all projects. */
  readonly work: string
  readonly env: NodeJS.ProcessEnv
  readonly registryUrl: string
  readonly heddleUrl: string
}

/** Node of the version above, from npm; null if it cannot be fetched. */
export async function findLaterNode(work: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const fetched = ['npx', '--yes', '--ignore-scripts=false', `--package=node@${NODE_VERSION}`]
  try {
    const { stdout } = await command([...fetched, 'node', '-p', 'process.execPath'], { cwd: work, env })
    return stdout.trim()
  } catch {
    return null
  }
}

export function laterProject(name: string, { node, work, env, registryUrl }: LaterNode): Promise<Project> {
  const path = `${dirname(node)}:${env['PATH']}`
  return Project.make(join(work, name), { ...env, PATH: path }, registryUrl, { node, nodeOldest: NODE_VERSION })
}
