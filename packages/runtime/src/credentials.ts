/** Everything between `//` and the last `@` before the path: passwords may contain any character, also an `@`. */
const CREDENTIALS = /([a-z0-9+.-]:\/\/)[^\s/]*@/gi

/** Removes user names and passwords from every URL in a text: `postgres://u:p@host/db` becomes `postgres://host/db`. */
export function withoutCredentials(text: string): string {
  return text.replace(CREDENTIALS, '$1')
}
