import type { HeddleEvent } from '@heddle/contracts'
import type { Logger } from '@heddle/runtime'
import type { Channels } from './channels.js'
import type { MessageBatcher } from './message-batcher.js'
import { decodeEvents, encodeEvent, eventChannel } from './wire-format.js'

export type EventListener = (event: HeddleEvent) => void
export type Unsubscribe = () => Promise<void>

/** Subscriptions to the events of projects: one channel for each project, shared by all listeners of the process. */
export class Subscriptions {
  readonly #channels: Channels
  readonly #messages: MessageBatcher
  readonly #prefix: string
  readonly #log: Logger
  readonly #projects = new Map<string, { listeners: Set<EventListener>; ready: Promise<void> }>()

  constructor(channels: Channels, messages: MessageBatcher, prefix: string, log: Logger) {
    this.#channels = channels
    this.#messages = messages
    this.#prefix = prefix
    this.#log = log
  }

  publish(event: HeddleEvent): Promise<void> {
    return this.#messages.send(eventChannel(this.#prefix, event.projectId), encodeEvent(event))
  }

  /** Resolves once the subscription is active: later events arrive unless the connection is lost. */
  async subscribe(projectId: string, listener: EventListener): Promise<Unsubscribe> {
    const channel = eventChannel(this.#prefix, projectId)
    let project = this.#projects.get(projectId)
    if (project === undefined) {
      project = {
        listeners: new Set(),
        ready: this.#channels.listen(channel, (text) => this.#receive(projectId, text)),
      }
      this.#projects.set(projectId, project)
    }
    // One function may be subscribed twice; each subscription ends separately.
    const own: EventListener = (event) => listener(event)
    project.listeners.add(own)
    try {
      await project.ready
    } catch (error) {
      this.#projects.delete(projectId)
      throw error
    }
    return () => this.#unsubscribe(projectId, channel, own)
  }

  async #unsubscribe(projectId: string, channel: string, listener: EventListener): Promise<void> {
    const project = this.#projects.get(projectId)
    if (project === undefined || !project.listeners.delete(listener) || project.listeners.size > 0) return
    this.#projects.delete(projectId)
    await this.#channels.unlisten(channel)
  }

  #receive(projectId: string, text: string): void {
    for (const event of decodeEvents(text)) if (event.projectId === projectId) this.#deliver(projectId, event)
  }

  #deliver(projectId: string, event: HeddleEvent): void {
    for (const listener of this.#projects.get(projectId)?.listeners ?? []) {
      try {
        listener(event)
      } catch (error) {
        this.#log.error({ error, topic: event.topic, number: event.number }, 'event listener failed')
      }
    }
  }
}
