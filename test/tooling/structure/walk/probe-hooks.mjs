import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

let root = ''

/** @param {{ root: string }} data the folder of the checkout whose built files get probes */
export function initialize(data) {
  root = data.root
}

/** Loads a built file of the checkout with a probe at the start of each of its functions. */
export async function load(url, context, nextLoad) {
  const path = url.startsWith('file:') ? fileURLToPath(url) : ''
  const place = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : ''
  if (!/^(packages|services)\/[^/]+\/dist\/.*\.js$/.test(place)) return nextLoad(url, context)
  return { format: 'module', shortCircuit: true, source: withProbes(place, await readFile(path, 'utf8')) }
}

/** @param {string} place the path in the checkout, which each probe reports with the name of its function */
export function withProbes(place, source) {
  const syntax = ts.createSourceFile(place, source, ts.ScriptTarget.Latest, true)
  /** @type {{ at: number, text: string }[]} */
  const insertions = []
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const probe = `globalThis.heddleProbe?.(${JSON.stringify(place)}, ${JSON.stringify(nameOf(node))})`
      if (ts.isBlock(node.body)) insertions.push({ at: node.body.getStart(syntax) + 1, text: `${probe};` })
      else {
        insertions.push({ at: node.body.getStart(syntax), text: `(${probe}, ` })
        insertions.push({ at: node.body.end, text: ')' })
      }
    }
    node.forEachChild(visit)
  }
  visit(syntax)
  let probed = ''
  let end = 0
  for (const { at, text } of insertions.toSorted((one, other) => one.at - other.at)) {
    probed += source.slice(end, at) + text
    end = at
  }
  return probed + source.slice(end)
}

/** The name of a function, or of what it is assigned to, or else that of the function around it. */
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return `new ${node.parent.name?.text ?? ''}`
  for (let current = node; current !== undefined; current = current.parent) {
    const { name } = current
    if (name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) return name.text
  }
  return ''
}
