/**
 * Messages to whoever listens at the moment: replies and events. They may be lost (a dropped connection, a restart), so
 * everyone who waits for one also looks at the store from time to time.
 */
export interface Channels {
  /** The largest answer that may go along with a reply, in bytes as it is written into it; 0 where messages are too short for any. */
  readonly answerBytesMax: number
  /** Resolves once the subscription is in force: what is sent after that arrives. */
  listen(channel: string, receive: (text: string) => void): Promise<void>
  unlisten(channel: string): Promise<void>
  send(channel: string, text: string): Promise<void>
  close(): Promise<void>
}
