/** A request to send. */
export interface Outgoing {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** The used part of an answer. */
export interface Incoming {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

export type Send = (url: URL, outgoing: Outgoing) => Promise<Incoming>
