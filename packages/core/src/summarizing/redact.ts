/**
 * Removes secrets from prompts, so that they do not reach a model's provider. The rules recognize secrets by their
 * shape or by their name. In doubt they redact, since a summary loses little by it; stored messages are never changed.
 * Each expression runs in time linear in the text: every repetition is bounded, or ends where its class does.
 */
interface RedactionRule {
  readonly kind: string
  readonly expression: RegExp
  /** Text to keep before and after the mark, from the groups of the match. */
  readonly keep?: (groups: readonly string[]) => readonly [before: string, after: string]
}

const keepBefore = ([before = '']: readonly string[]) => [before, ''] as const

/** Common names of secrets that are assigned a value. */
const NAMES =
  'password|passwd|passphrase|api[_-]?key|secret[_-]?access[_-]?key|access[_-]?key|client[_-]?secret|private[_-]?key|secret[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|secret|token'

const rules: readonly RedactionRule[] = [
  {
    kind: 'private-key',
    // A whole key, or the beginning of a truncated one. In JSON its line feeds are escaped.
    expression:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:[\w+/=\s\\:,.()]|-(?!-))*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:\s|\\[nr]|[A-Za-z0-9+/=]{16,})*)/g,
  },
  {
    kind: 'api-key',
    expression: new RegExp(
      `(?<![A-Za-z0-9])(?:${[
        'sk-[A-Za-z0-9_-]{16,300}',
        '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,200}',
        'gsk_[A-Za-z0-9]{20,200}',
        'csk-[a-z0-9]{20,200}',
        'xai-[A-Za-z0-9]{20,200}',
        'AIza[0-9A-Za-z_-]{30,100}',
        '(?:AKIA|ASIA)[0-9A-Z]{16}',
        'gh[pousr]_[A-Za-z0-9]{20,255}',
        'github_pat_[A-Za-z0-9_]{20,255}',
        'glpat-[\\w-]{16,100}',
        'xox[abeoprs]-[A-Za-z0-9-]{10,300}',
        'npm_[A-Za-z0-9]{30,100}',
        'pypi-[\\w-]{40,300}',
        'hf_[A-Za-z0-9]{20,100}',
        'hvs\\.[\\w-]{20,300}',
        'SG\\.[\\w-]{16,64}\\.[\\w-]{16,64}',
        'ya29\\.[\\w-]{20,300}',
        'dop_v1_[a-f0-9]{40,100}',
      ].join('|')})`,
      'g',
    ),
  },
  { kind: 'token', expression: /(?<![A-Za-z0-9])eyJ[\w-]{8,4000}\.[\w-]{8,8000}\.[\w-]{8,2000}/g },
  {
    kind: 'authorization',
    expression:
      /(\b(?:proxy-)?authorization\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?(?:(?:bearer|basic|digest|token)\s{1,3})?)(?!\[redacted)[^\s"',;\\]{8,4000}/gi,
    keep: keepBefore,
  },
  { kind: 'authorization', expression: /(\bbearer\s{1,3})[A-Za-z0-9._~+/=-]{16,4000}/gi, keep: keepBefore },
  {
    kind: 'credentials',
    // The password may contain any character except a slash, also an `@`.
    expression: /(\b[a-z][a-z0-9+.-]{1,30}:\/\/)(?:[^\s/:@"'<>]{0,200}:[^\s/"'<>]{1,400}|[^\s/:@"'<>]{16,400})(@)/gi,
    keep: ([before = '', after = '']) => [before, after],
  },
  {
    kind: 'secret',
    expression: new RegExp(
      `((?:${NAMES})\\\\{0,3}["']?\\s{0,3}[:=]\\s{0,3}\\\\{0,3}["'])(?!\\[redacted)[^"'\\n]{4,4000}`,
      'gi',
    ),
    keep: keepBefore,
  },
  // Arguments of commands, and variables before them; a reference such as $TOKEN is no value.
  {
    kind: 'secret',
    expression: /(\b[A-Z_]{0,40}(?:PASSWORD|PASSWD|PWD|SECRET|TOKEN|API_KEY)=["']?)(?![$<[])[^\s"';&|]{4,400}/g,
    keep: keepBefore,
  },
  {
    kind: 'secret',
    expression: new RegExp(`(--(?:${NAMES})[ =]["']?)(?![$<[-])[^\\s"';&|]{4,400}`, 'gi'),
    keep: keepBefore,
  },
  {
    kind: 'secret',
    expression:
      /(\b(?:mysql|mysqldump|mysqladmin|mariadb)\s(?:[^\s|;&-][^\s|;&]{0,99}\s|--?[a-oq-zA-Z][^\s|;&]{0,99}\s){0,12}-p)[^\s"'$|;&]{2,200}/g,
    keep: keepBefore,
  },
  { kind: 'secret', expression: /(\bsshpass\s{1,3}-p\s{0,3}["']?)(?![$<[])[^\s"']{2,200}/g, keep: keepBefore },
  {
    kind: 'secret',
    // Numbers are a user and a group.
    expression:
      /(\s(?:-u|--user)[\s=]{0,3}["']?[^\s:"'@/]{1,100}:)(?=[^\s"']{0,100}[A-Za-z])(?![$<[])[^\s"':@/]{3,200}(?=["'\s]|$)/g,
    keep: keepBefore,
  },
  {
    kind: 'secret',
    expression: /(\b(?:aws_secret_access_key|aws_session_token|_authToken)[\s=]{1,3}["']?)(?![$<[])[^\s"']{6,2000}/gi,
    keep: keepBefore,
  },
  {
    kind: 'secret',
    expression:
      /([?&](?:[a-z_-]{0,30}(?:token|signature|secret|password|credential)|sig)=)(?![$<[])[^\s&"'#]{4,2000}/gi,
    keep: keepBefore,
  },
  {
    kind: 'secret',
    // An unquoted value may be a type or a call, so it must contain a digit.
    expression: new RegExp(
      `((?:${NAMES})\\s{0,3}[:=]\\s{0,3}|--(?:${NAMES})[ =])(?=[^\\s"',;]{0,100}\\d)[^\\s"',;()[\\]]{8,4000}`,
      'gi',
    ),
    keep: keepBefore,
  },
]

/**
 * A text without secrets that are recognized by their shape or their name; each becomes a mark such as
 * `[redacted:api-key]`. Never fails; idempotent.
 */
export function redactSecrets(text: string): string {
  let redacted = text
  for (const { kind, expression, keep } of rules) {
    redacted = redacted.replace(expression, (_, ...groups: unknown[]) => {
      const [before, after] = keep?.(groups.map(String)) ?? ['', '']
      return `${before}[redacted:${kind}]${after}`
    })
  }
  return redacted
}
