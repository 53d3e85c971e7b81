/**
 * Messages to current listeners: replies and events. They may be lost (a dropped connection, a restart), so receivers also
 * poll the store.
 */
export interface Channels {
  /** Most bytes of an answer within a reply, as encoded; 0 if messages are too short for answers. */
  readonly answerBytesMax: number
  /** Resolves once the subscription is active: messages that are sent after that arrive. */
  listen(channel: string, receive: (text: string) => void): Promise<void>
  unlisten(channel: string): Promise<void>
  send(channel: string, text: string): Promise<void>
  close(): Promise<void>
}
