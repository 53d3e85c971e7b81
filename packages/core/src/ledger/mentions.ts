import type { ArtifactKind } from '@heddle/contracts'
import { urlsIn } from '../loss/tokens.js'

/*
 * The names in a call that are no files. Each expression takes time linear in the text: its repetitions are bounded.
 */

export interface Mention {
  readonly kind: Extract<ArtifactKind, 'service' | 'ticket' | 'url'>
  readonly name: string
}

const LOCAL_SERVICE = /(?<![\w.-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d{2,5}(?!\d)/g
const SERVICE_WITH_PORT = /^https?:\/\/([\w.-]{1,200}:\d{2,5})(?:\/|$)/
const SERVICE_COMMAND =
  /\b(?:systemctl|pm2|docker(?:[ -]compose)?)\s{1,3}(?:start|stop|restart|reload)\s{1,3}([\w@.-]{1,100})/g
const TICKET = /(?<![\w-])[A-Z][A-Z0-9]{1,9}-[1-9]\d{0,6}(?![\w-]|\.\d)/g
const TICKET_OF_REPOSITORY = /(?<![\w./-])[\w.-]{1,60}\/[\w.-]{1,100}#\d{1,7}(?!\w)/g
const TICKET_COMMAND = /\bgh\s{1,3}(?:issue|pr)\s{1,3}\w{1,20}\s{1,3}#?(\d{1,7})(?!\w)/g
/** Names of standards, which have the form of a ticket. */
const STANDARD = /^(?:UTF|SHA|ISO|RFC|IEC|IEEE|AES|RSA|MD|GPT|CVE|CWE|TLS|ES|H|MP|ED|X|P|CP|UCS|BASE|GB|KOI|EN|DIN)-/

/** Addresses, services and tickets in the texts of a call. */
export function mentionsIn(text: string): Mention[] {
  // The texts of long calls are cut, and a part of an address leads nowhere.
  const urls = urlsIn(text).filter((url) => !url.includes('…'))
  const services = [
    ...[...text.matchAll(LOCAL_SERVICE)].map(([name]) => name),
    ...urls.flatMap((url) => SERVICE_WITH_PORT.exec(url)?.[1] ?? []),
    ...[...text.matchAll(SERVICE_COMMAND)].map(([, name = '']) => name),
  ]
  const tickets = [
    ...[...text.matchAll(TICKET)].flatMap(([name]) => (STANDARD.test(name) ? [] : [name])),
    ...[...text.matchAll(TICKET_OF_REPOSITORY)].map(([name]) => name),
    ...[...text.matchAll(TICKET_COMMAND)].map(([, number = '']) => `#${number}`),
  ]
  return [
    ...[...new Set(services)].map((name): Mention => ({ kind: 'service', name })),
    ...[...new Set(tickets)].map((name): Mention => ({ kind: 'ticket', name })),
    ...[...new Set(urls)].map((name): Mention => ({ kind: 'url', name })),
  ]
}
