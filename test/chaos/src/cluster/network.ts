import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { closeLater } from '@heddle/test-support/closing'
import { Host } from './host.js'

const run = promisify(execFile)

/** Interfaces of Linux have names of up to 15 characters, so they are named after the process. */
const NAME = /^hc(\d+)(?:-(\d+))?$/
/** Private, and rarely used by others; the third number depends on the process. */
const RANGE = '10.213'
const RANGES = 250
/** The address of this process, and of the users that it starts, on the bridge. */
const OWN_NUMBER = 1
const HOSTS_MAX = 250

/** Hosts that reach each other over one bridge, each with a network stack of its own. */
export class Network {
  readonly #name = `hc${process.pid}`
  readonly #range = `${RANGE}.${process.pid % RANGES}`
  readonly #hosts: Host[] = []
  readonly #folder: string

  /** @param folder of the files of all hosts */
  constructor(folder: string) {
    this.#folder = folder
  }

  get hosts(): readonly Host[] {
    return this.#hosts
  }

  async open(): Promise<void> {
    await removeLeftovers()
    await ip('link', 'add', this.#name, 'type', 'bridge')
    closeLater(() => this.#remove())
    await ip('addr', 'add', `${this.#range}.${OWN_NUMBER}/24`, 'dev', this.#name)
    await ip('link', 'set', this.#name, 'up')
  }

  /** @param label for reports */
  async addHost(label: string): Promise<Host> {
    const number = OWN_NUMBER + 1 + this.#hosts.length
    if (number > HOSTS_MAX) throw new RangeError(`a network has at most ${HOSTS_MAX} hosts`)
    const [namespace, address] = [`${this.#name}-${number}`, `${this.#range}.${number}`]
    const host = new Host({ label, namespace, address, folder: join(this.#folder, label) })
    this.#hosts.push(host)
    await host.makeFolder()
    await ip('netns', 'add', namespace)
    await ip('link', 'add', namespace, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    await ip('link', 'set', namespace, 'master', this.#name, 'up')
    await ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    await ip('-n', namespace, 'link', 'set', 'lo', 'up')
    await ip('-n', namespace, 'link', 'set', 'eth0', 'up')
    return host
  }

  async #remove(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.crash()))
    for (const { namespace } of this.#hosts) await ip('netns', 'delete', namespace)
    await ip('link', 'delete', this.#name)
  }
}

/** Removes the network of a process that was killed before it could do so itself. */
async function removeLeftovers(): Promise<void> {
  for (const namespace of await namesOf('netns', 'list')) {
    await new Host({ label: namespace, namespace, address: '', folder: '' }).crash()
    await ip('netns', 'delete', namespace)
  }
  for (const bridge of await namesOf('-o', 'link', 'show', 'type', 'bridge')) await ip('link', 'delete', bridge)
}

/** Names of this command whose process has ended. */
async function namesOf(...parameters: string[]): Promise<string[]> {
  const words = (await ip(...parameters)).split(/[\s:@]+/)
  const names = [...new Set(words)].filter((word) => NAME.test(word))
  return names.filter((name) => !isRunning(Number(NAME.exec(name)?.[1])))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function ip(...parameters: string[]): Promise<string> {
  return (await run('ip', parameters)).stdout
}
