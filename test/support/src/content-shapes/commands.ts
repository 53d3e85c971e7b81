import { between, type ContentShapes, letters, pieces, repeated, scattered } from './grow.js'

const LATIN = 'abcdefghijklmnopqrstuvwxyz'
const COMMANDS = [
  'git commit -m',
  'npm run',
  'cat',
  'grep -rn',
  'sed -i s/a/b/',
  'python3 -c',
  'rm -rf',
  'mv',
  'docker build -t',
  'cd',
]

function command(number: number): string {
  return `${COMMANDS[scattered(number) % COMMANDS.length]} ${name(number)}`
}

function name(number: number): string {
  return letters(LATIN, 6, number)
}

/** Command lines of agents, with paths and addresses. */
export const commandShapes: ContentShapes = {
  'commands-a-line': pieces((number) => `$ ${command(number)}\n`),
  'commands-without-prompt': pieces((number) => `${command(number)}\n`),
  'commands-chained-with-and': pieces((number) => `${command(number)} && `),
  'commands-chained-with-semicolons': pieces((number) => `${command(number)} ; `),
  'commands-piped': pieces((number) => `${command(number)} | `),
  'commands-in-backticks': pieces((number) => `\`${command(number)}\` `),
  'commands-in-fences': pieces((number) => `\`\`\`bash\n${command(number)}\n\`\`\`\n`),
  'commands-quoted': pieces((number) => `echo "${name(number)} '${name(number + 1)}'" > ${name(number)}.txt\n`),
  'commands-with-open-quotes': pieces((number) => `echo "${name(number)} `),
  'commands-with-flags': pieces((number) => `--${name(number)}=${number} `),
  'commands-with-redirects': pieces((number) => `> ${name(number)} `),
  'commands-with-substitutions': repeated('$(echo '),
  'commands-with-variables': pieces((number) => `\${${name(number)}:-$`),
  'commands-with-assignments': pieces((number) => `${name(number).toUpperCase()}=${number} `),
  'one-heredoc': between(
    "cat > file.txt << 'EOF'\n",
    pieces((number) => `${name(number)}\n`),
    '\nEOF\n',
  ),
  'heredoc-without-end': between(
    'cat > file.txt << EOF\n',
    pieces((number) => `${name(number)}\n`),
  ),
  heredocs: pieces((number) => `cat > ${name(number)}.txt << 'EOF'\n${name(number + 1)}\nEOF\n`),
  'heredocs-opened': pieces((number) => `cat << EOF${number}\n`),
  'lines-continued': pieces((number) => `${name(number)} \\\n`),
  'paths-unix': pieces((number) => `/home/${name(number)}/src/${name(number + 1)}.ts\n`),
  'paths-in-one-line': pieces((number) => `src/${name(number)}/${name(number + 1)}.ts `),
  'one-path': pieces((number) => `${name(number)}/`),
  'path-up': repeated('../'),
  'paths-windows': pieces((number) => `C:\\Users\\${name(number)}\\${name(number + 1)}.cs\n`),
  'file-names': pieces((number) => `${name(number)}.py `),
  'file-names-with-lines': pieces((number) => `${name(number)}.py:${number}:${number % 80} `),
  'names-with-dots': pieces((number) => `${name(number)}.`),
  urls: pieces((number) => `https://${name(number)}.example.org/${name(number + 1)}?q=${number}#top\n`),
  'one-url': between(
    'https://example.org/',
    pieces((number) => `${name(number)}/`),
  ),
  'url-queries': between(
    'https://example.org/?',
    pieces((number) => `${name(number)}=${number}&`),
  ),
  'urls-without-spaces': pieces((number) => `https://${name(number)}.org,`),
  mails: pieces((number) => `${name(number)}@${name(number + 1)}.example.org `),
  'mails-without-spaces': pieces((number) => `${name(number)}@${name(number + 1)}.org,`),
  'mail-without-end': pieces((number) => `${name(number)}@`),
  'mail-thread': pieces((number) => `> On Monday, ${name(number)} <${name(number)}@example.org> wrote:\n`),
  secrets: pieces((number) => `api_key=sk-${letters(LATIN, 24, number)}\n`),
  'private-keys-opened': repeated('-----BEGIN PRIVATE KEY-----\n'),
}
